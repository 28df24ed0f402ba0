package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// journeys returns rows of a CSV file with a number, a category and a number to predict,
// without the header.
func journeys(n int) []string {
	rng := rand.New(rand.NewPCG(5, 6))
	out := make([]string, n)
	for i := range out {
		km, city := rng.Float64()*10, rng.IntN(3)
		out[i] = fmt.Sprintf("%.4f,%s,%.4f", km, []string{"Turin", "Oslo", ""}[city], km*float64(city+1)+rng.NormFloat64())
	}
	return out
}

// A model that begins with a CSV file, or with what fit has saved of it, and goes on with
// a topic has the state of fit on all rows.
func TestLearnContinuesWhereFitEnds(t *testing.T) {
	rows := journeys(400)
	addr, in := kafkatest.Addr(t), kafkatest.Name("trips")
	inDir(t, "")
	file := func(name string, rows []string) {
		t.Helper()
		if err := os.WriteFile(name, []byte("km,city,price\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("all.csv", rows)
	file("old.csv", rows[:150])
	file("new.csv", rows[150:])
	accrete := func(want int, says string, args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, args...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("%v: exit %d, want %d and %q\n%s%s", args, code, want, says, stdout, stderr)
		}
		return stdout
	}
	with := func(model string) {
		t.Helper()
		text := fmt.Sprintf("model: %s\nkafka: {bootstrap.servers: %q}\ninput: {topics: [%s], label: price}\nlearner: {algorithm: ridge, max_features: 64, kernel: \"gaussian:1.5\"}\nhttp: {listen: \"off\"}\n", model, addr, in)
		if err := os.WriteFile("config.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with("all")
	fit := []string{"--label", "price", "--algorithm", "ridge", "--max-features", "64", "--kernel", "gaussian:1.5"}
	want := read[struct {
		StateHash string `json:"state_hash"`
	}](t, accrete(exit.Done, "", append([]string{"fit", "all.csv", "--json"}, fit...)...)).StateHash
	accrete(exit.Done, "", append([]string{"fit", "old.csv", "--save", "old.snap"}, fit...)...)
	accrete(exit.Done, "", "feed", "new.csv", "-c", "config.yaml")
	for i, from := range []string{"old.csv", "old.snap"} {
		with(fmt.Sprintf("%s-m%d", in, i))
		accrete(exit.Misused, "no such file", "learn", "--to-end", "-c", "config.yaml", "--from", "none.csv")
		accrete(exit.Misused, "want earliest", "learn", "--to-end", "-c", "config.yaml", "--from-offsets", "x")
		accrete(exit.Done, want, "learn", "--to-end", "-c", "config.yaml", "--from", from)
		accrete(exit.Done, "", "learn", "--to-end", "-c", "config.yaml")
		accrete(exit.Refused, "began with", "learn", "--to-end", "-c", "config.yaml", "--from", "new.csv")
		accrete(exit.Done, "give the file with --from", "verify", "-c", "config.yaml")
		v := read[audit.Verification](t, accrete(exit.Done, "", "verify", "-c", "config.yaml", "--from", from, "--json"))
		if v.StateHash.String() != want || !v.Start.Verified || v.Divergent > 0 {
			t.Errorf("%s: verified %+v, want state %s", from, v, want)
		}
		accrete(exit.Refused, "began with", "verify", "-c", "config.yaml", "--from", "new.csv")
		accrete(exit.Done, ", decoder 1\nhistory  ", "inspect", "-c", "config.yaml")
		accrete(exit.Done, "begins with", "inspect", "-c", "config.yaml", "--records", "100")
	}
	begun := "model=" + in + "-begun"
	accrete(exit.Done, "", "learn", "--to-end", "-c", "config.yaml", "--from", "old.csv", "--from-offsets", "latest", "--set", begun)
	accrete(exit.Failed, "that it begins with, which --from FILE verifies", "verify", "-c", "config.yaml", "--set", begun)
	for line := range strings.Lines(accrete(exit.Done, "", "predict", "new.csv", "--model", "old.snap", "--explain")) {
		p := read[struct {
			Prediction  float64
			Explanation struct {
				Base, Score, Rest float64
				Parts             map[string]float64
			}
		}](t, line)
		x := p.Explanation
		sum := x.Base + x.Parts["km"] + x.Parts["city"] + x.Rest
		if math.Abs(p.Prediction-x.Score) > 1e-9 || math.Abs(sum-x.Score) > 1e-9 || math.Abs(x.Rest) > 1e-4 || len(x.Parts) != 2 {
			t.Errorf("the parts sum to %v: %s", sum, line)
		}
	}
	accrete(exit.Refused, "learner.max_features", "learn", "--to-end", "-c", "config.yaml", "--from", "old.snap", "--set", "model=x"+in, "--set", "learner.max_features=128")
}
