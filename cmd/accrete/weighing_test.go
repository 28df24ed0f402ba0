package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/fit"
)

// timedFile writes 2,000 rows, a second apart, of which one in twenty is "fraud" and one in
// five is late by 100 seconds.
func timedFile(t *testing.T, path string) {
	r := rand.New(rand.NewPCG(1, 0))
	var b bytes.Buffer
	b.WriteString("a,b,at,y\n")
	for i := range 2000 {
		class, x, at := "ok", 0.0, 1_700_000_000+i
		if i%20 == 7 {
			class, x = "fraud", 1.5
		}
		if i%5 == 4 {
			at -= 101 // the stream is at the second of the row before
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%d,%s\n", r.NormFloat64()+x, r.NormFloat64()+x, at, class)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fit says how many rows were thinned and how old rows were, and refuses what ages are not for.
func TestFitThinsClassesAndWeighsAges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "timed.csv")
	timedFile(t, file)
	const few = "--max-features 64 --kernel gaussian:1.5 --mixture off --columns at:id "
	code, said, why := call(t, nil, append(strings.Fields("fit "+few+"--balance balanced --half-life 100s --time at --json"), file)...)
	var r fit.Report
	if err := json.Unmarshal([]byte(said), &r); code != exit.Done || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, why)
	}
	// Of the 712 rows of "ok" after the warm-up about one in 19 is learned, and all of "fraud".
	if r.Thinned == nil || r.Thinned.Rows != 2000 || r.Thinned.Thinned < 600 || r.Thinned.Thinned > 712 || r.Rows.Thinned != r.Thinned.Thinned || r.Rows.Learned != 2000-r.Thinned.Thinned {
		t.Errorf("thinned: %+v of %+v", r.Thinned, r.Rows)
	}
	// A fifth of the rows is a half-life old.
	if r.Ages == nil || r.Ages.Rows != 2000 || r.Ages.Untimed != 0 || math.Abs(r.Ages.Weight-0.9) > 0.005 {
		t.Errorf("ages: %+v", r.Ages)
	}
	for _, args := range []string{"--half-life 100s", "--time at", "--half-life -1s --time at", "--half-life 100s --time at --shuffle 1", "--half-life 100s --time at --refit", "--balance half", "--balance balanced --task regression"} {
		if code, said, why := call(t, nil, append(strings.Fields("fit "+few+args), file)...); code != exit.Misused {
			t.Errorf("fit %s: exit code %d\n%s%s", args, code, said, why)
		}
	}
}

// bench weighs ages on the sets that have the column of times, and skips the others.
func TestBenchSkipsSetsWithoutTimes(t *testing.T) {
	dir := t.TempDir()
	timedFile(t, filepath.Join(dir, "timed.train.csv"))
	even, err := os.ReadFile(rareFile(t, "even.csv", 2, 450, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "even.train.csv"), even, 0o600); err != nil {
		t.Fatal(err)
	}
	code, said, why := call(t, nil, "bench", "--algorithms", "dsg", "--half-life", "100s", "--time", "at", dir)
	if code != exit.Done || !strings.Contains(said, "timed") || strings.Contains(said, "even") || !strings.Contains(why, "no column at with times") {
		t.Errorf("exit code %d\n%s%s", code, said, why)
	}
}

// A refit encodes the rows of its window as the model saw them, which is not possible if only a part
// of them was learned and columns have statistics of the rows that were. It is possible with either
// alone.
func TestRefitsOfThinnedRowsNeedColumnsWithoutStatistics(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("a,shop,y\n")
	r := rand.New(rand.NewPCG(2, 0))
	for i := range 900 {
		shop := r.IntN(40)
		fmt.Fprintf(&rows, "%.4f,s%d,%v\n", r.NormFloat64()+float64(i%2), shop, i%2 == 0 || shop < 9)
	}
	file := filepath.Join(t.TempDir(), "shops.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{"": exit.Done, "--columns a --balance balanced": exit.Done, "--balance balanced": exit.Refused} {
		code, said, why := call(t, nil, append(strings.Fields("fit --refit --max-features 64 --mixture off "+args), file)...)
		if code != want || (code == exit.Refused) != strings.Contains(why, "learned from a part of the rows (balance)") {
			t.Errorf("fit --refit %s: exit code %d, want %d\n%s%s", args, code, want, said, why)
		}
	}
}
