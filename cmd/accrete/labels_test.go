package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// poses returns records of an arm of two joints and the place of its hand.
// Every tenth lacks a label or two, and every seventh is invalid.
func poses(n int) (records []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		a, b := 3*r.Float64(), 3*r.Float64()
		x, y, z := math.Cos(a)+math.Cos(a+b), math.Sin(a)+math.Sin(a+b), 1000*a*b
		switch {
		case i%7 == 5:
			records = append(records, fmt.Sprintf(`{"a":%v,"b":%v,`, a, b)+[]string{
				`"x":"1","y":2,"z":3}`, `"x":1,"y":NaN,"z":3}`, `"x":1,"y":2,"z":[3]}`, `"x":1e31,"y":2,"z":3}`, `"x":1,"y":2,"z":3,"w":4}`,
			}[i%5])
		case i%10 == 7:
			records = append(records, fmt.Sprintf(`{"a":%v,"b":%v,"y":1}`, a, b))
		default:
			records = append(records, fmt.Sprintf(`{"a":%v,"z":%v,"b":%v,"x":%v,"y":%v}`, a, z, b, x, y))
		}
	}
	return records
}

// TestSeveralLabelsFromFileToScorer tests a model of three targets end to end.
// A learner that is restarted and reads invalid records must learn the same
// model from a topic as fit from the file. The model is then verified, refitted
// and used by a scorer.
func TestSeveralLabelsFromFileToScorer(t *testing.T) {
	records := poses(900)
	dir := t.TempDir()
	file, config := filepath.Join(dir, "poses.jsonl"), filepath.Join(dir, "accrete.yaml")
	if err := os.WriteFile(file, []byte(strings.Join(records, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fitted(t, file, "--label", "x,y,z", "--max-features", "128", "--forest", "0", "--skip-bad", "--test", file)
	if want.Targets != 3 || want.Task != "regression" || len(want.Progressive.Each) != 3 || len(want.Test.Each) != 3 || want.Skipped < 100 {
		t.Errorf("%+v", want)
	}
	mean := 0.0
	for _, e := range want.Test.Each {
		mean += e / 3
	}
	if math.Abs(mean-want.Test.Value()) > 1e-12 || mean > 0.01 {
		t.Errorf("nMSE %v of %v", want.Test.Value(), want.Test.Each)
	}

	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	text := fmt.Sprintf("model: arm\nkafka: {bootstrap.servers: %q}\ninput: {topics: [in], label: [x, y, z]}\nlearner: {max_features: 128, forest: 0}\nhttp: {listen: \"off\"}\nscore: {topics: [in], http.listen: \"off\"}\n", b.Addr())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, append(args, "-c", config)...)
		if code != exit.Done {
			t.Fatalf("%v: exit %d\n%s", args, code, stderr)
		}
		return stdout
	}
	client := kafkatest.ClientOf(t, b.Addr(), nil)
	kafkatest.Fill(t, client, "in", 1, records[:555])
	do("learn", "--to-end")
	kafkatest.Fill(t, client, "in", 1, records[555:])
	if out := do("learn", "--to-end", "--json"); !strings.Contains(out, want.StateHash.String()) || !strings.Contains(out, `"progressive_each":[`) {
		t.Errorf("learned from a topic: %s, want the state %v", out, want.StateHash)
	}
	var v audit.Verification
	if out := do("refit", "--json", "--window", "300"); !strings.Contains(out, `"published":true`) {
		t.Errorf("refit: %s", out)
	}
	if err := json.Unmarshal([]byte(do("verify", "--json")), &v); err != nil || v.Divergent != 0 || v.Challengers != 1 || v.Compared < 2 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	if out := do("inspect"); !strings.Contains(out, `"outputs":3`) || !strings.Contains(out, `"labels":["x","y","z"]`) {
		t.Errorf("inspect: %s", out)
	}

	type answer struct {
		Prediction, Label []float64
		Loss              *float64
	}
	read := func(r ingest.Record) (a answer) {
		if err := json.Unmarshal(r.Value, &a); err != nil {
			t.Errorf("%v in %s", err, r.Value)
		}
		return a
	}
	predictions := kafkatest.Read(t, client, "arm.predictions")
	squares, labelled := 0.0, 0
	for i, r := range predictions[len(predictions)-300:] {
		a := read(r)
		if len(a.Prediction) != 3 || a.Label != nil && (len(a.Label) != 3 || a.Loss == nil) {
			t.Fatalf("prediction %d is %s", i, r.Value)
		}
		if a.Label == nil {
			continue
		}
		labelled++
		sum := 0.0
		for j, y := range a.Label {
			sum += math.Pow(a.Prediction[j]-y, 2) / 2 / 3
		}
		if math.Abs(sum-*a.Loss) > 1e-9*(1+sum) {
			t.Errorf("the loss is %v, want %v", *a.Loss, sum)
		}
		squares += math.Pow(a.Prediction[0]-a.Label[0], 2)
	}
	if labelled < 200 || squares/float64(labelled) > 0.02 {
		t.Errorf("squared error %v over %d", squares/float64(labelled), labelled)
	}
	bad := kafkatest.Read(t, client, "arm.quarantine")
	if 2*len(bad) != int(want.Skipped) || len(bad)+len(predictions) != len(records) {
		t.Errorf("%d in quarantine and %d predictions of %d records, of which fit, twice over, skipped %d", len(bad), len(predictions), len(records), want.Skipped)
	}
	do("score", "--to-end")
	scores := kafkatest.Read(t, client, "arm.scores")
	if last := read(scores[len(scores)-1]); len(scores) != len(predictions) || len(last.Prediction) != 3 {
		t.Errorf("%d scores, the last one %+v", len(scores), last)
	}

	if err := os.WriteFile(config, []byte(strings.Replace(text, "[x, y, z]", "[x, z, y]", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, nil, "learn", "--to-end", "-c", config); code != exit.Refused || !strings.Contains(stderr, "input.label is") {
		t.Errorf("other labels: exit %d, %s", code, stderr)
	}
}

// TestFitOfSeveralLabelsRefuses checks that unsupported combinations are
// rejected with advice.
func TestFitOfSeveralLabelsRefuses(t *testing.T) {
	file := waves(t, 100, 1)
	libsvm := filepath.Join(t.TempDir(), "a.libsvm")
	if err := os.WriteFile(libsvm, []byte("1 1:2 2:3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, label, more, want string }{
		{file, "y,b", "--task=classification", "2 targets need task regression"},
		{file, "y,b", "--loss=hinge", "2 targets need task regression"},
		{file, "y,c", "--task=auto", `there is no column "c", which is configured as the label`},
		{file, "y,y", "--task=auto", `must differ, but two are`},
		{file, "y,a,b", "--task=auto", `no input columns`},
		{libsvm, "y,b", "--task=auto", "a LIBSVM file has one label per line"},
	} {
		if code, _, stderr := call(t, nil, "fit", c.file, "--label", c.label, c.more); code != exit.Misused || !strings.Contains(stderr, c.want) {
			t.Errorf("--label %s %s: exit %d, %s, want %s", c.label, c.more, code, stderr, c.want)
		}
	}
	one := fitted(t, file, "--label", "y")
	if same := fitted(t, file); same.StateHash != one.StateHash || one.Targets != 1 || one.Progressive.Each != nil {
		t.Errorf("--label y: %+v, without it %+v", one, same)
	}
}
