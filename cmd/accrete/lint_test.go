package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
)

var update = flag.Bool("update", false, "write what is printed to testdata, to be reviewed as a diff")

// golden compares printed output with a file in testdata.
func golden(t *testing.T, home, name, got string) {
	t.Helper()
	path := filepath.Join(home, "testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: printed\n%s\nwant\n%s", name, got, want)
	}
}

func TestLintExplainsEveryValue(t *testing.T) {
	home, _ := os.Getwd()
	inDir(t, least+"learner:\n  seed: 5\n")
	environ := []string{"ACCRETE_INPUT_MISSING=zero", "ACCRETE_INPUT_FROMAT=csv", "ACCRETE_LOG_LEVEL=info"}
	args := []string{"lint", "-c", "config.yaml", "--set", "learner.seed=7"}
	code, stdout, stderr := call(t, environ, args...)
	if code != exit.Done || stderr != "" {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	golden(t, home, "lint.txt", stdout)

	code, stdout, stderr = call(t, environ, append(args, "--json")...)
	if code != exit.Done || stderr != "" {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	golden(t, home, "lint.json", stdout)
}

func TestLintReportsEveryProblem(t *testing.T) {
	inDir(t, strings.Replace(least, "  label", "  lable", 1)+"  format: xml\n")
	code, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml")
	want := "config.yaml:6:3: unknown key \"lable\" in input; did you mean \"label\"?\n" +
		"config.yaml:7:11: input.format: unknown value \"xml\": want one of " + strings.Join(decode.Formats(), ", ") + "\n"
	if code != exit.Refused || stdout != want || stderr != "accrete: config.yaml has 2 problems\n" {
		t.Errorf("exit code %d, printed\n%s\nsaid %s", code, stdout, stderr)
	}
}

// Two tables that would add a column of the same name are refused.
func TestLintRefusesTwoTablesOfOneColumn(t *testing.T) {
	inDir(t, least+"  tables:\n    - {topic: a, key: id, fields: [b.c]}\n    - {topic: a.b, key: id, fields: [c]}\n")
	code, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml")
	if code != exit.Refused || !strings.Contains(stdout, `two tables have the column "a.b.c"`) {
		t.Errorf("exit code %d, printed\n%s\nsaid %s", code, stdout, stderr)
	}
}

// Options that contradict each other are refused by lint, not only once a learner has started.
func TestLintRefusesWhatALearnerWouldRefuse(t *testing.T) {
	for more, want := range map[string]string{
		"  weight: is_fraud\n":                                            `input.label, input.key and input.weight must differ, but two are "is_fraud"`,
		"  columns: {is_fraud: boolean}\n":                                `input.columns: "is_fraud" is also the label, the key or the weight`,
		"learner: {task: regression, loss: logistic}\n":                   "loss logistic is for classification, but the task is regression",
		"learner: {task: classification, intervals: 0.9}\n":               "intervals are for regression, but the task is classification",
		"learner: {algorithm: dsg, step: {size: 2}}\n":                    "learner.step.size is 2: want 0 for the default, or more; for direction precond at most 1",
		"learner: {step: {size: 2}}\n":                                    "learner.step.size is for the algorithms of stochastic descent (dsg, udsg, cdsg, all), not for newton",
		"learner: {algorithm: udsg, memory: 64MiB}\nrefit: {every: 1m}\n": "refits and a model that grows by memory exclude each other: a refit needs memory for each feature and record of its window",
		"learner: {forest: 50}\nrefit: {every: 1m}\n":                     "cannot be refitted: the model has a forest: only the coefficients of random features can be fitted again",
		"  lags: 2\nrefit: {every: 1m}\n":                                 "cannot be refitted: only the learner can predict with a model that has lags: predictions depend on the labels of earlier records",
		"refit: {every: 1m}\n":                                            "",
		"learner: {kernel: chi2}\n":                                       "",
		"  columns: {at: time:since}\n  key: id\n":                        "",
		"  labels: {ttl: 1h, topic: outcomes, key: id}\n":                 "",
		"learner: {task: classification, loss: 'quantile:0.1,0.9'}\n":     "loss quantile:0.1,0.9 is for regression, but the task is classification",
	} {
		inDir(t, least+more)
		code, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml")
		if want == "" {
			if code != exit.Done || stderr != "" {
				t.Errorf("%q: exit code %d, said %s", more, code, stderr)
			}
			continue
		}
		if code != exit.Refused || stdout != "" || stderr != "accrete: "+want+"\n" {
			t.Errorf("%q: exit code %d, said %s want %s", more, code, stderr, want)
		}
	}
}

func TestTheReferenceIsReviewed(t *testing.T) {
	home, _ := os.Getwd()
	code, stdout, stderr := call(t, nil, "lint", "--reference")
	if code != exit.Done || stderr != "" {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	golden(t, home, "reference.yaml", stdout)
}
