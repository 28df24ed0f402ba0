package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheExamplesRun builds the programs in examples that need no Kafka, and runs them.
func TestTheExamplesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two programs")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir, "./resume", "./predict") // nothing debugs them
	build.Dir = "../../examples"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := func(program string, args ...string) string {
		out, err := exec.Command(filepath.Join(dir, program), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		return string(out)
	}
	if out := run("resume"); strings.Count(out, "equal true") != 8 {
		t.Errorf("resume prints\n%s", out)
	}
	model := filepath.Join(dir, "spam.snap")
	if code, _, stderr := call(t, nil, "fit", "../../testdata/spam.train.csv.gz", "--algorithm", "ridge", "--max-features", "64", "--save", model); code != 0 {
		t.Fatalf("fit exits with %d\n%s", code, stderr)
	}
	if out := run("predict", model, "../../testdata/spam.test.csv.gz"); !strings.Contains(out, "1150 rows") {
		t.Errorf("predict prints\n%s", out)
	}

	// A column of labels with its own name, missing values, and costs that change the class.
	labelled, rows := filepath.Join(dir, "labelled.csv"), filepath.Join(dir, "rows.csv")
	rng := rand.New(rand.NewPCG(1, 1))
	with, without := "a,b,c\n", "b,c\n"
	for i := range 600 {
		b, c, label := rng.NormFloat64(), fmt.Sprintf("%.3f", rng.NormFloat64()), "no"
		if b > 1.2+rng.NormFloat64()/2 {
			label = "yes"
		}
		if i%10 == 3 {
			c = ""
		}
		with += fmt.Sprintf("%s,%.3f,%s\n", label, b, c)
		without += fmt.Sprintf("%.3f,%s\n", b, c)
	}
	os.WriteFile(labelled, []byte(with), 0o600)
	os.WriteFile(rows, []byte(without), 0o600)
	if code, _, stderr := call(t, nil, "fit", labelled, "--label", "a", "--costs", `{"yes":20}`, "--algorithm", "ridge", "--max-features", "64", "--save", model); code != 0 {
		t.Fatalf("fit exits with %d\n%s", code, stderr)
	}
	code, out, stderr := call(t, nil, "predict", rows, "--model", model, "--json")
	predicted, err := objects[struct{ Prediction string }](out)
	if code != 0 || err != nil {
		t.Fatalf("predict exits with %d\n%s%v", code, stderr, err)
	}
	for _, file := range []string{labelled, rows} {
		got := lines(run("predict", model, file))
		if len(got) != 601 {
			t.Fatalf("predict prints %d lines", len(got))
		}
		for i, want := range predicted {
			if got[i] != want.Prediction {
				t.Fatalf("row %d of %s: the example predicts %s, accrete predict %s", i, file, got[i], want.Prediction)
			}
		}
	}
}
