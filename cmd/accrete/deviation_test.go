package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/learner/loss"
)

// fit, predict and bench have several quantiles, with columns and figures for each.
func TestSeveralQuantilesOfAFile(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for range 300 {
		x := rng.Float64()
		fmt.Fprintf(&rows, "%v,%v\n", x, 100+20*x*rng.NormFloat64())
	}
	file, out, model := filepath.Join(dir, "a.stream.csv"), filepath.Join(dir, "predicted.csv"), filepath.Join(dir, "model")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	const taus = "quantile:0.1,0.6,0.9"
	r := fitted(t, file, "--algorithm", "eigenpro", "--max-features", "64", "--loss", taus, "--predictions", out, "--test", file, "--save", model)
	lines := readCSV(t, out)
	if want := []string{"x", "y", "prediction", "quantile.0.1", "quantile.0.6", "quantile.0.9"}; !slices.Equal(lines[0], want) {
		t.Errorf("columns %q, want %q", lines[0], want)
	}
	sums := make([]float64, 3)
	for _, l := range lines[2:] {
		y, _ := strconv.ParseFloat(l[1], 64)
		for i, tau := range []float64{0.1, 0.6, 0.9} {
			p, err := strconv.ParseFloat(l[3+i], 64)
			if err != nil {
				t.Fatal(err)
			}
			sums[i] += loss.Quantile{Tau: tau}.Value([]float64{p}, y) / float64(len(lines)-2)
		}
		if l[2] != l[4] {
			t.Fatalf("%q: the prediction is not the quantile closest to the median", l)
		}
	}
	f := r.Progressive
	if f.Figures == nil || len(f.Quantiles) != 3 || f.Crossed == nil || f.Tau != nil || r.Test.Crossed == nil {
		t.Fatalf("%+v", f)
	}
	for i, q := range f.Quantiles {
		if math.Abs(*q.Pinball-sums[i]) > 1e-9 {
			t.Errorf("quantile %v: pinball loss %v, want %v", *q.Tau, *q.Pinball, sums[i])
		}
	}
	code, stdout, stderr := call(t, nil, "predict", file, "--model", model, "--json")
	var v struct {
		Prediction float64
		Quantiles  map[string]float64
	}
	if err := json.Unmarshal([]byte(strings.SplitN(stdout, "\n", 2)[0]), &v); err != nil || code != exit.Done || len(v.Quantiles) != 3 || v.Quantiles["0.6"] != v.Prediction || !(v.Quantiles["0.1"] <= v.Prediction && v.Prediction <= v.Quantiles["0.9"]) {
		t.Errorf("exit %d, %v, %.300s %s", code, err, stdout, stderr)
	}
	if code, stdout, _ := call(t, nil, "bench", dir, "--algorithms", "eigenpro", "--loss", taus); code != exit.Done || !strings.Contains(stdout, "pinball     <0.1     <0.6     <0.9  crossed") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

func readCSV(t *testing.T, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

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
	lines := readCSV(t, out)
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

	type result struct {
		Results []struct {
			Algorithm   string
			Progressive struct{ Pinball, Below float64 }
		}
	}
	code, stdout, stderr := call(t, nil, "bench", dir, "--sets", "a", "--algorithms", "dsg/rate", "--preset", "cdsg-paper", "--loss", "quantile:0.8", "--json")
	reports, err := objects[result](stdout)
	if err != nil || code != exit.Done {
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
