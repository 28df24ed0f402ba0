package main

import (
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
}
