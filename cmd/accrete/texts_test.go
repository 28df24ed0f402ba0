package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// Texts that are all different are learned by their words, from one command and without a declaration;
// as a category they say nothing. A model that was saved reads them as texts, in any format.
func TestTextsAreLearned(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(8, 9))
	train, test, records := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv"), filepath.Join(dir, "test.jsonl")
	var csv, tested, lines strings.Builder
	for i := range 2400 {
		score, words := rng.NormFloat64(), []string{}
		for range 8 {
			n := rng.IntN(300)
			words = append(words, fmt.Sprintf("w%dx", n))
			score += float64(1 - 2*(n*7%11%2))
		}
		text, class := strings.Join(words, " "), map[bool]string{true: "good", false: "bad"}[score > 0]
		if i < 2000 {
			fmt.Fprintf(&csv, "%s,%d,%s\n", text, i%7, class)
			continue
		}
		fmt.Fprintf(&tested, "%s,%d,%s\n", text, i%7, class)
		fmt.Fprintf(&lines, `{"note":"%s","n":%d}`+"\n", text, i%7)
	}
	for path, text := range map[string]string{train: "note,n,y\n" + csv.String(), test: "note,n,y\n" + tested.String(), records: lines.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := filepath.Join(dir, "model")
	for name, args := range map[string][]string{"text": {"--save", model}, "category": {"--columns", "note:category,*"}} {
		code, stdout, stderr := call(t, nil, append([]string{"fit", train, "--test", test, "--json"}, args...)...)
		if code != exit.Done {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		var report struct {
			Inputs  int
			Columns []struct{ Name, Type, Becomes string }
			Test    struct{ Error float64 }
		}
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatal(err)
		}
		if report.Inputs != 2 || len(report.Columns) != 2 || report.Columns[1].Type != name {
			t.Errorf("%d inputs, columns %v, want note as %s", report.Inputs, report.Columns, name)
		}
		if becomes := report.Columns[1].Becomes; name == "text" && becomes != "target statistic of n-grams in 3 columns" {
			t.Errorf("a text becomes %s", becomes)
		}
		if e := report.Test.Error; (e < 0.2) != (name == "text") {
			t.Errorf("as %s, the test error is %v", name, e)
		}
	}
	var predictions []string
	for _, path := range []string{test, records} {
		code, stdout, stderr := call(t, nil, "predict", path, "--model", model, "--json")
		if code != exit.Done {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		all := ""
		for line := range strings.Lines(stdout) {
			var p struct{ Prediction string }
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			all += p.Prediction + " "
		}
		predictions = append(predictions, all)
	}
	if predictions[0] != predictions[1] || !strings.Contains(predictions[0], "good") || !strings.Contains(predictions[0], "bad") {
		t.Errorf("predictions of a CSV file: %s\nof the same records: %s", predictions[0], predictions[1])
	}
}

// Sentences that are read as categories, and classes that are read as values, are warned of by a learner
// and by fit, unless the configuration says that they are meant.
func TestWhatIsMisreadIsWarnedOf(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("notes")
	var records []string
	for i := range 1100 {
		records = append(records, fmt.Sprintf(`{"note":"the train number %d was late","y":%d}`, i, i%2))
	}
	kafkatest.Fill(t, client, in, 1, records)
	dir := t.TempDir()
	file, config := filepath.Join(dir, "notes.jsonl"), filepath.Join(dir, "accrete.yaml")
	for path, text := range map[string]string{
		file:   strings.Join(records, "\n"),
		config: fmt.Sprintf("model: %s-m\nkafka: {bootstrap.servers: %s}\ninput: {topics: [%s], label: y}\nhttp: {listen: 'off'}\nlearner: {algorithm: ridge, max_features: 32}\n", in, addr, in),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const texts, classes = "categories look like texts", "the labels are a few whole numbers"
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"learn", "-c", config, "--to-end"}, []string{texts, classes}},
		{[]string{"learn", "-c", config, "--to-end", "--set", "model=" + in + "-meant", "--set", "learner.task=regression", "--set", "input.columns=note:text"}, nil},
		{[]string{"fit", file, "--label", "y"}, []string{classes}},
		{[]string{"fit", file, "--label", "y", "--task", "regression"}, nil},
	} {
		code, _, stderr := call(t, nil, test.args...)
		if code != exit.Done {
			t.Fatalf("%v: exit code %d: %s", test.args, code, stderr)
		}
		for _, warning := range []string{texts, classes} {
			if strings.Contains(stderr, warning) != slices.Contains(test.want, warning) {
				t.Errorf("%v: want %q: %s", test.args, test.want, stderr)
			}
		}
	}
}
