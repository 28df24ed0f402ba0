package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func spread(share float64) Config {
	return Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 24, Intervals: share}
}

// Intervals and variances change no bit of what is learned, and the model of a State has
// those of the learner at every row.
func TestIntervalsChangeNothingElse(t *testing.T) {
	config := spread(0.8)
	config.Targets = 3
	changeNothingElse(t, config, "intervals", "intervals.rows", "intervals.residuals")
	config.Variance = true
	arrays := []string{"intervals", "intervals.rows", "intervals.residuals", "variance", "posterior"}
	arrays = append(arrays, "posterior.gram", "posterior.moment", "posterior.rows", "posterior.solved")
	changeNothingElse(t, config, arrays...)
	config.Intervals = 0
	changeNothingElse(t, config, arrays[1:]...)
	config.Algorithm, config.Lags, config.BlockSize, config.MaxFeatures = "dsg", 0, 96, 192
	changeNothingElse(t, config, arrays[1:]...)
}

func changeNothingElse(t *testing.T, config Config, arrays ...string) {
	t.Helper()
	plain := config
	plain.Intervals, plain.Variance = 0, false
	rows := stream{config: config, dim: 4, label: numerics}.rows(1550)
	l, m := newLearner(t, config), newLearner(t, plain)
	for at := 0; at < rows.Len(); {
		p, q := l.Predict(rows.Slice(at, rows.Len())), m.Predict(rows.Slice(at, rows.Len()))
		if p.Len() != q.Len() || !slices.Equal(p.Values, q.Values) || q.Intervals.Valid() || q.Intervals.HasVariance() {
			t.Fatalf("row %d: with intervals %v, without %v", at, p.Predictions, q.Predictions)
		}
		if at%31 == 0 {
			served, err := NewModel(l.Serving())
			if err != nil {
				t.Fatal(err)
			}
			one := served.Predict(rows.Slice(at, at+1))
			if got := one.Uncertainty(0); !sameIntervals(got, p.Uncertainty(0), 3) {
				t.Fatalf("row %d: the model has intervals %v, the learner %v", at, got, p.Uncertainty(0))
			}
		}
		at += p.Len()
		l.Learn(p)
		m.Learn(q)
	}
	of, without := l.State(), m.State()
	drop := func(a Array) bool {
		return slices.Contains(arrays, a.Name)
	}
	if n := len(of.Serving) + len(of.Resuming) - len(without.Serving) - len(without.Resuming); n != len(arrays) {
		t.Errorf("%d more arrays, want %d", n, len(arrays))
	}
	of.Serving, of.Resuming = slices.DeleteFunc(of.Serving, drop), slices.DeleteFunc(of.Resuming, drop)
	sameState(t, "without the intervals", of, without)
}

func sameIntervals(a, b Intervals, targets int) bool {
	if a.Valid() != b.Valid() || a.HasVariance() != b.HasVariance() {
		return false
	}
	for j := 0; a.HasVariance() && j < targets; j++ {
		if a.Variance(j) != b.Variance(j) {
			return false
		}
	}
	for j := 0; a.Valid() && j < targets; j++ {
		low, high := a.Bounds(1, j)
		if l, h := b.Bounds(1, j); l != low || h != high {
			return false
		}
	}
	return true
}

// The share of the labels inside is the configured one for symmetric noise, noise on one
// side, noise that grows tenfold, and where the errors fall as the function is learned.
func TestIntervalsContainTheirShare(t *testing.T) {
	noises := map[string]func(r *rand.Rand, i int) float64{
		"normal":  func(r *rand.Rand, _ int) float64 { return r.NormFloat64() },
		"skewed":  func(r *rand.Rand, _ int) float64 { return 1e6 * r.ExpFloat64() },
		"small":   func(r *rand.Rand, _ int) float64 { return 0.03 * r.NormFloat64() },
		"growing": func(r *rand.Rand, i int) float64 { return r.NormFloat64() * math.Pow(10, float64(i/2000)) },
	}
	for name, noise := range noises {
		for _, share := range []float64{0.5, 0.9, 0.95} {
			r := rand.New(rand.NewPCG(7, 7))
			label := func(i int, x []float64) Label {
				return Label{Task: Regression, Value: x[0] + noise(r, i)}
			}
			l := newLearner(t, spread(share))
			rows := stream{config: l.config, dim: 2, label: label}.rows(4000)
			for at := 0; at < rows.Len(); {
				p := l.Predict(rows.Slice(at, rows.Len()))
				at += p.Len()
				l.Learn(p)
			}
			s, off := l.Progress().Intervals, 0.015
			if name == "skewed" { // of which the narrow side is learned in thousands of rows
				off = 0.035
			}
			if len(s) != 1 || math.Abs(s[0].Coverage-share) > off {
				t.Errorf("%s noise, intervals of %v: %+v", name, share, s)
			}
			if want := 2 * 1.645; name == "normal" && share == 0.9 && math.Abs(s[0].Width/want-1) > 0.15 {
				t.Errorf("normal noise: the mean width is %v, want about %v", s[0].Width, want)
			}
		}
	}
}

func TestIntervalsAreForNumbers(t *testing.T) {
	for _, c := range []Config{{Intervals: 0.4}, {Intervals: 1}, {Intervals: math.NaN()}, {Intervals: 0.9, Task: Classification}, {Intervals: 0.9, Loss: "hinge"}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if c, err := (Config{Intervals: 0.9}).Effective(); err != nil || c.Task != Regression {
		t.Errorf("%+v, %v", c, err)
	}
}
