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
)

// waves writes a file of two columns and a wavy number, and returns its name.
func waves(t *testing.T, rows int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for range rows {
		x, z := r.NormFloat64(), r.NormFloat64()
		fmt.Fprintf(&b, "%v,%v,%v\n", x, z, math.Sin(2*x)+z+r.NormFloat64()/10)
	}
	path := filepath.Join(t.TempDir(), "waves.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFitRefits(t *testing.T) {
	train, test := waves(t, 1500, 1), waves(t, 500, 2)
	code, stdout, stderr := call(t, nil, "fit", train, "--test", test, "--algorithm", "all", "--max-features", "128", "--refit", "--window", "1000", "--json")
	if code != done {
		t.Fatal(stderr)
	}
	var r fitReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	f := r.Refit
	switch {
	case f == nil || f.Test == nil || f.Suboptimality == nil:
		t.Fatalf("%s", stdout)
	case f.Rows != 1000 || f.Features != 256 || !f.Reached || f.RelativeGap > 1e-3 || f.Gap < 0 || !(f.Bound > 0):
		t.Errorf("%+v", f)
	case f.Test.value() > 0.02 || f.Test.value() > r.Test.value() || *f.Suboptimality < f.Gap:
		t.Errorf("nMSE %v, before %v; suboptimality %v, gap %v", f.Test.value(), r.Test.value(), *f.Suboptimality, f.Gap)
	}
	if code, stdout, _ := call(t, nil, "fit", train, "--refit"); code != done || !strings.Contains(stdout, "of the optimum on 1,500 rows") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if code, _, _ := call(t, nil, "fit", train, "--refit", "--gap", "0"); code != misused {
		t.Errorf("exit %d of a gap of 0", code)
	}
	if code, _, stderr := call(t, nil, "fit", train, "--refit", "--loss", "huber"); code != refused || !strings.Contains(stderr, "huber") {
		t.Errorf("exit %d of a loss without a refit: %s", code, stderr)
	}
}
