package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
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
			Columns []struct{ Name, Type string }
			Test    struct{ Error float64 }
		}
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Columns) != 2 || report.Columns[1].Type != name {
			t.Errorf("columns %v, want note as %s", report.Columns, name)
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
