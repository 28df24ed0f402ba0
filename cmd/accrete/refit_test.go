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
	"github.com/accrete-ml/accrete/cmd/accrete/internal/fit"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/audit"
)

// waves writes a file of two input columns and a label that is a wave function
// of them, and returns its name.
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
	train, test := waves(t, 700, 1), waves(t, 500, 2)
	code, stdout, stderr := call(t, nil, "fit", train, "--test", test, "--algorithm", "all", "--max-features", "128", "--refit", "--window", "600", "--json")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	var r fit.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	f := r.Refit
	switch {
	case f == nil || f.Test == nil:
		t.Fatalf("%s", stdout)
	case f.Rows != 600 || f.Features != 256 || !f.Reached || f.RelativeGap > 1e-3 || f.Gap < 0 || !(f.Bound > 0):
		t.Errorf("%+v", f)
	case f.Test.Value() > 0.02 || f.Test.Value() > r.Test.Value() || f.Suboptimality < f.Gap:
		t.Errorf("nMSE %v, before %v; suboptimality %v, gap %v", f.Test.Value(), r.Test.Value(), f.Suboptimality, f.Gap)
	}
	few := waves(t, 250, 3)
	if code, stdout, _ := call(t, nil, "fit", few, "--refit", "--max-features", "64", "--kernel", "gaussian:1"); code != exit.Done || !strings.Contains(stdout, "of the optimum on 250 rows") || !strings.Contains(stdout, "of the algorithm in the mixture") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for flag, value := range map[string]string{"--prune": "0.1", "--window": "8192", "--tolerance": "0.01", "--penalty": "1", "--by-norm": "true", "--coordinates": "2", "--nu": "0.1"} {
		if code, _, stderr := call(t, nil, "fit", train, flag+"="+value); code != exit.Misused || !strings.Contains(stderr, flag+" is ") {
			t.Errorf("exit %d of %s without what it is for: %s", code, flag, stderr)
		}
	}
	if code, stdout, _ := call(t, nil, "fit", few, "--refit", "--prune", "0.1", "--max-features", "64", "--kernel", "gaussian:1"); code != exit.Done || !strings.Contains(stdout, "random features left") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if code, _, _ := call(t, nil, "fit", train, "--refit", "--tolerance", "0"); code != exit.Misused {
		t.Errorf("exit %d of a gap of 0", code)
	}
	if code, _, stderr := call(t, nil, "fit", train, "--refit", "--loss", "huber"); code != exit.Refused || !strings.Contains(stderr, "huber") {
		t.Errorf("exit %d of a loss without a refit: %s", code, stderr)
	}
}

func TestRefitPublishesAChallengerThatVerifyKnows(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	dir := t.TempDir()
	config, saved := filepath.Join(dir, "accrete.yaml"), filepath.Join(dir, "challenger.snap")
	text := fmt.Sprintf("model: waves\nkafka: {bootstrap.servers: %q}\ninput: {topics: [in], label: y}\nlearner: {algorithm: all, max_features: 128, kernel: \"gaussian:1\"}\nhttp: {listen: \"off\"}\n", b.Addr())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(v any, args ...string) {
		t.Helper()
		code, stdout, stderr := call(t, nil, append(args, "-c", config, "--json")...)
		if code != exit.Done {
			t.Fatalf("%v: exit %d\n%s", args, code, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), v); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stdout)
		}
	}
	if code, _, stderr := call(t, nil, "refit", "-c", config); code != exit.Refused || !strings.Contains(stderr, "waves.log") {
		t.Errorf("before any learner: exit %d, %s", code, stderr)
	}
	do(new(any), "feed", waves(t, 700, 1))
	do(new(any), "learn", "--to-end")
	var r, dry, all pipeline.RefitReport
	do(&dry, "refit", "--window", "600", "--dry-run")
	do(&all, "refit", "--window", "600", "--dry-run", "--set", "refit.prune=0.5", "--prune", "0")
	if all.Prune != 0 || all.StateHash != dry.StateHash {
		t.Errorf("--prune 0 instead of refit.prune 0.5: %+v", all)
	}
	do(&r, "refit", "--window", "600", "--save", saved)
	if r.Rows != 600 || r.Relative > 1e-3 || !r.Published || dry.Published || dry.StateHash != r.StateHash || r.Suboptimality == nil {
		t.Errorf("%+v, and dry %+v", r, dry)
	}
	var v audit.Verification
	do(&v, "verify")
	if v.Challengers != 1 || v.Divergent != 0 {
		t.Errorf("%+v", v)
	}
	if code, stdout, _ := call(t, nil, "inspect", saved); code != exit.Done || !strings.Contains(stdout, r.StateHash.String()) {
		t.Errorf("inspect: exit %d\n%s", code, stdout)
	}
	if code, stdout, _ := call(t, nil, "inspect", "-c", config); code != exit.Done || !strings.Contains(stdout, "challenger   snapshot "+r.Snapshot) {
		t.Errorf("inspect: exit %d\n%s", code, stdout)
	}
}
