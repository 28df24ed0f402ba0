package learner

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// labelledRows is the part of b that has labels.
func labelledRows(b *Batch) *Batch {
	var l Batch
	l.Reset(b.Dim())
	for i := range b.Len() {
		if b.Label(i).Task != Auto {
			l.Append(b.X(i), b.Label(i), b.Weight(i))
		}
	}
	return &l
}

func restored(t *testing.T, c Config, s State) *Learner {
	t.Helper()
	l, err := restore(c, s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const sums = 1e-7 // the rounding of those of a mini-batch, in float32

// TestMergedModelHasLearnedTheRowsOfAll: three learners that go on from one, with
// other rows each and classes that the others have not met, merge into the one
// that has learned all these rows.
func TestMergedModelHasLearnedTheRowsOfAll(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"growing", "binary", "regression", "late", "several"} {
		t.Run(name, func(t *testing.T) {
			s := streamOf("ridge", name)
			s.config.Minibatch, s.config.MaxFeatures = 32, 16
			rows := labelledRows(s.rows(2400))
			const settled = 1280
			cuts := []int{settled, settled + 200, settled + 360, settled + 451} // not all at the end of a mini-batch
			base := newLearner(t, s.config)
			learn(base, rows.Slice(0, settled), 100)
			start := base.State()
			var all Batch
			all.Reset(s.dim)
			var parts []*Learner
			for i, from := range cuts[:3] {
				var part Batch
				part.Reset(s.dim)
				for j := from; j < cuts[i+1]; j++ {
					y := rows.Label(j)
					if name == "growing" && i == 1 && j%5 == 0 {
						y.Class = base.head.Classes // that the others do not meet
					}
					part.Append(rows.X(j), y, rows.Weight(j))
					all.Append(rows.X(j), y, rows.Weight(j))
				}
				l := restored(t, s.config, start)
				learn(l, &part, 50)
				parts = append(parts, l)
			}
			whole := restored(t, s.config, start)
			learn(whole, &all, 50)

			merged := parts[0]
			for _, o := range parts[1:] {
				before := o.State()
				if err := merged.Merge(o, base); err != nil {
					t.Fatal(err)
				}
				sameState(t, "the one that was merged", o.State(), before)
			}
			sameState(t, "the base", base.State(), start)
			if merged.labelled != whole.labelled || merged.steps() != whole.steps() || merged.head.Classes != whole.head.Classes {
				t.Fatalf("%d rows, %d steps, %d classes, want %d, %d, %d", merged.labelled, merged.steps(), merged.head.Classes, whole.labelled, whole.steps(), whole.head.Classes)
			}
			near(t, "class weights", merged.weights, whole.weights, sums)
			near(t, "mean and weight", append(merged.means, merged.total), append(whole.means, whole.total), sums)

			// What waits for a mini-batch is other rows of the same ones: fill it up.
			rest := rows.Slice(settled+451, settled+451+32-len(whole.pending.Labels))
			learn(merged, rest, 50)
			learn(whole, rest, 50)
			for _, name := range []string{"ridge.0.gram", "ridge.0.moment", "ridge.0.rows", "linear.gram", "linear.moment"} {
				near(t, name, resuming[float64](merged, name), resuming[float64](whole, name), sums)
			}
			near(t, "rows", []float64{merged.linear.Rows}, []float64{whole.linear.Rows}, sums)
			near(t, "scores of the member that forgets nothing", solved(t, merged, rows.Slice(0, 100)), solved(t, whole, rows.Slice(0, 100)), 1e-4)

			again := restored(t, s.config, merged.State())
			sameState(t, "restored", again.State(), merged.State())
			rest = rows.Slice(1800, 1900)
			firstDifference(t, "after a restore", learn(again, rest, 50), learn(merged, rest, 30))
		})
	}
}

// near wants numbers that are the same to a part of the greatest of them, or of 1.
func near(t *testing.T, what string, got, want []float64, within float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i, v := range got {
		if math.Abs(v-want[i]) > within*max(scale, 1) {
			t.Fatalf("%s %d: %v, want %v", what, i, v, want[i])
		}
	}
}

// TestMergedRowsCountAsInTheirOwnStream: a member that forgets counts what each
// has learned as that one did, by its mini-batches, and the base's rows once.
func TestMergedRowsCountAsInTheirOwnStream(t *testing.T) {
	s := streamOf("ridge", "regression")
	s.config.Minibatch, s.config.MaxFeatures = 32, 8
	rows := labelledRows(s.rows(2000))
	base := newLearner(t, s.config)
	learn(base, rows.Slice(0, 1280), 100)
	parts := []*Batch{rows.Slice(1280, 1280+2*32), rows.Slice(1400, 1400+5*32)}
	one, two := restored(t, s.config, base.State()), restored(t, s.config, base.State())
	learn(one, parts[0], 100)
	learn(two, parts[1], 100)
	if err := one.Merge(two, base); err != nil {
		t.Fatal(err)
	}
	for e, f := range []float64{1, 0.9995, 0.998, 0.99} {
		rows := fmt.Sprintf("ridge.%d.rows", e)
		want, counted := 0.0, resuming[float64](base, rows)[0]
		for _, part := range parts {
			for i := range part.Len() {
				if i%32 == 0 {
					counted *= math.Pow(f, 32)
				}
				counted += part.Weight(i)
			}
			want, counted = want+counted, 0
		}
		near(t, rows, resuming[float64](one, rows), []float64{want}, 1e-12)
	}
}

func TestMergeRefusesWhatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	s := streamOf("ridge", "binary")
	s.config.Minibatch, s.config.MaxFeatures = 32, 8
	rows := labelledRows(s.rows(1700))
	at := func(c Config, n int) *Learner {
		l := newLearner(t, c)
		learn(l, rows.Slice(0, n), 100)
		return l
	}
	with := func(f func(c *Config)) Config {
		c := s.config
		f(&c)
		return c
	}
	base, more := at(s.config, 1280), at(s.config, 1300)
	other := newLearner(t, s.config)
	learn(other, rows.Slice(100, 1400), 100)
	newton := at(with(func(c *Config) { c.Algorithm = "newton" }), 1280)
	drift := at(with(func(c *Config) { c.OnDrift = "forget" }), 1280)
	numbers := streamOf("ridge", "regression")
	numbers.config.Minibatch, numbers.config.MaxFeatures, numbers.config.Mixture = 32, 8, true
	numbers.config.Task = Regression
	mixed := newLearner(t, numbers.config)
	learn(mixed, labelledRows(numbers.rows(1700)).Slice(0, 1280), 100)
	seed := with(func(c *Config) { c.Seed = 5 })
	for _, test := range []struct {
		what       string
		l, o, base *Learner
	}{
		{"another algorithm", newton, newton, newton},
		{"reactions to drift", drift, drift, drift},
		{"a mixture", mixed, mixed, mixed},
		{"another seed", more, at(seed, 1300), base},
		{"a warm-up that is under way", more, more, at(s.config, 640)},
		{"a mini-batch that is under way", more, more, at(s.config, 1281)},
		{"another warm-up", more, other, base},
		{"a base that is further", base, more, at(s.config, 1312)},
	} {
		before := test.l.State()
		if err := test.l.Merge(test.o, test.base); !errors.Is(err, ErrMerge) {
			t.Errorf("%s: %v, want ErrMerge", test.what, err)
		} else {
			t.Log(err)
		}
		sameState(t, test.what, test.l.State(), before)
	}
}

// solved returns the scores of rows by the member of ridge that forgets nothing,
// solved for as of now.
func solved(t *testing.T, l *Learner, b *Batch) []float64 {
	t.Helper()
	k := l.head.Scores()
	moment := resuming[float64](l, "ridge.0.moment")
	n := len(moment) / k
	e := leastsquares.New(n, k)
	copy(e.Gram, resuming[float64](l, "ridge.0.gram"))
	copy(e.Moment, moment)
	w, factor := make([]float64, k*n), make([]float64, n*n)
	if !e.Factorise(factor, l.fit.Lambda*warmup.LastCheckpoint) {
		t.Fatal("the equations have no solution")
	}
	e.Solve(w, factor)
	bank := l.fit.Bank(l.config.options().FeatureMap(l.dim))
	bank.Grow((n - 1) / (2 * l.config.BlockSize))
	phi := make([]float32, b.Len()*(n-1))
	bank.Features(phi, 0, scaledRows(nil, &l.fit.Scaler, b, b.Len()))
	f := make([]float64, b.Len()*k)
	for i := range f {
		f[i] = w[(i%k+1)*n-1]
		for j, v := range phi[i/k*(n-1) : (i/k+1)*(n-1)] {
			f[i] += float64(v) / math.Sqrt(float64((n-1)/2)) * w[i%k*n+j]
		}
	}
	return f
}
