package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/learner/loss"
)

// fit grades a quantile by the pinball loss of the predictions that it writes.
func TestFitGradesByTheLoss(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for range 400 {
		x := rng.Float64()
		fmt.Fprintf(&rows, "%v,%v\n", x, 100+20*x*rng.NormFloat64())
	}
	file, out := filepath.Join(dir, "a.stream.csv"), filepath.Join(dir, "predicted.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{file, "--algorithm", "dsg", "--minibatch", "32", "--loss", "quantile:0.8"}
	r := fitted(t, append(args, "--predictions", out, "--test", file)...)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	pinball, below, n := 0.0, 0.0, float64(len(lines)-2)
	for _, l := range lines[2:] {
		y, _ := strconv.ParseFloat(l[1], 64)
		p, err := strconv.ParseFloat(l[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		pinball += loss.Quantile{Tau: 0.8}.Value([]float64{p}, y) / n
		if y <= p {
			below += 1 / n
		}
	}
	if f := r.Progressive; f.Figures == nil || math.Abs(*f.Pinball-pinball) > 1e-9 || math.Abs(*f.Below-below) > 1e-9 || *f.Tau != 0.8 || f.NMSE == nil || f.MAE != nil {
		t.Errorf("%+v, want the pinball loss %v with %v below", f, pinball, below)
	}
	if f := r.Test; f.Figures == nil || *f.Pinball <= 0 || math.Abs(*f.Below-0.8) > 0.1 {
		t.Errorf("test: %+v", f)
	}
	if code, stdout, _ := call(t, nil, append([]string{"fit"}, args...)...); code != exit.Done || !strings.Contains(stdout, fmt.Sprintf("progressive  pinball %.4g, %.4f of the labels below, nMSE", pinball, below)) || !strings.Contains(stdout, "nMSE of linear") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if r := fitted(t, file, "--algorithm", "dsg", "--loss", "huber:1"); r.Progressive.Figures == nil || r.Progressive.MAE == nil || r.Progressive.Pinball != nil {
		t.Errorf("huber: %+v", r.Progressive)
	}
	if r := fitted(t, file, "--algorithm", "dsg"); r.Progressive.Figures != nil {
		t.Errorf("square: %+v", r.Progressive)
	}

	var reports []struct {
		Results []struct {
			Algorithm   string
			Progressive struct{ Pinball, Below float64 }
		}
	}
	code, stdout, stderr := call(t, nil, "bench", dir, "--sets", "a", "--algorithms", "dsg/rate", "--preset", "cdsg-paper", "--loss", "quantile:0.8", "--json")
	if err := json.Unmarshal([]byte(stdout), &reports); err != nil || code != exit.Done {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if s := reports[0].Results; len(s) != 2 || s[0].Algorithm != "dsg/rate" || s[1].Algorithm != "cdsg-paper" || s[1].Progressive.Pinball <= 0 || s[0].Progressive.Below <= 0 {
		t.Errorf("bench: %+v", s)
	}
	for want, args := range map[string][]string{
		"bad loss":       {"--loss", "quantile:2"},
		"not for":        {"--loss", "hinge"},
		"must be one of": {"--preset", "sgd"},
	} {
		code, _, stderr := call(t, nil, append([]string{"bench", dir}, args...)...)
		if code != exit.Misused || want != "bad loss" && !strings.Contains(stderr, want) {
			t.Errorf("bench %v: exit code %d: %s", args, code, stderr)
		}
	}
}
