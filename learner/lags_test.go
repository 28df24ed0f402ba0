package learner

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// keyed is rows of several keys whose label is, mostly, the last one of the key.
func keyed(n, keys int) *Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	b := new(Batch)
	b.Reset(2)
	last := make([]bool, keys)
	for range n {
		k := rng.IntN(keys)
		if rng.Float64() < 0.1 {
			last[k] = !last[k]
		}
		y := class(last[k])
		if rng.IntN(9) == 0 {
			y = Label{}
		}
		b.Append([]float64{rng.NormFloat64(), 5}, y, 1)
		b.SetKey(fmt.Sprint("key ", k))
	}
	return b
}

func lagConfig(algorithm string) Config {
	return Config{Algorithm: algorithm, Lags: 2, BlockSize: 8, MaxFeatures: 64, Minibatch: 40, Kernel: "gaussian:3"}
}

// The labels of a key's earlier rows tell almost everything, and nothing else does.
func TestLagsSeeTheLabelsBefore(t *testing.T) {
	t.Parallel()
	for _, a := range algorithms {
		l := newLearner(t, lagConfig(a.Name))
		learn(l, keyed(4000, 3), 256)
		if s := l.Progress().Latest; s.Model.Error > 0.2 || s.NoChange.Error < 0.3 {
			t.Errorf("%s: error %v, of no change %v", a.Name, s.Model.Error, s.NoChange.Error)
		}
	}
}

func TestLagsKeepThePromises(t *testing.T) {
	t.Parallel()
	for _, a := range algorithms {
		t.Run(a.Name, func(t *testing.T) {
			c, rows := lagConfig(a.Name), keyed(700, 4)
			one := newLearner(t, c)
			var want []string
			for at := range rows.Len() {
				if at%61 == 7 {
					s := one.State()
					r, err := restore(c, s)
					if err != nil {
						t.Fatalf("row %d: %v", at, err)
					}
					sameState(t, "restored", r.State(), s)
					one = r
				}
				want = append(want, learn(one, rows.Slice(at, at+1), 1)...)
			}
			for _, cut := range []int{50, 700} {
				l := newLearner(t, c)
				firstDifference(t, fmt.Sprintf("batches of %d", cut), learn(l, rows, cut), want)
				sameState(t, fmt.Sprintf("batches of %d", cut), l.State(), one.State())
			}
			if _, err := NewModel(one.State().Serving); !errors.Is(err, ErrLags) {
				t.Errorf("a model of a learner with lags: %v", err)
			}
		})
	}
}

// A row's prediction depends on the labels before it, and on no other.
func TestLagsDoNotSeeTheLabelsOfTheRowsThemselves(t *testing.T) {
	rows := keyed(600, 2)
	l := newLearner(t, lagConfig("ridge"))
	learn(l, rows.Slice(0, 500), 100)
	state := l.State()
	predict := func(flip int) []float64 {
		r, err := restore(l.config, state)
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		b.Reset(2)
		for i := 500; i < 510; i++ {
			y := rows.Label(i)
			if i == flip && y.Task != Auto {
				y.Class = 1 - y.Class
			}
			b.Append(rows.X(i), y, 1)
			b.SetKey(rows.keys[i])
		}
		return slices.Clone(r.Predict(&b).Values)
	}
	plain := predict(-1)
	for flip := 500; flip < 510; flip++ {
		got := predict(flip)
		same := 2 * (flip - 500 + 1)
		if !slices.Equal(got[:same], plain[:same]) {
			t.Errorf("the label of row %d is in a prediction up to its own", flip)
		}
	}
}
