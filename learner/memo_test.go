package learner

import (
	"fmt"
	"hash/maphash"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

var fits memo[warmup.Fit]

// memoised is warmup.NewFit, which takes long and is a pure function of rows: tests that
// restore learners at every row remember what it returned for the same rows before,
// and with -whole for the same instruction set.
func memoised(x []float64, labels []Label, dim int, a warmup.Request) warmup.Fit {
	isa := ""
	if *whole {
		isa = vec.ISA()
	}
	key := fmt.Sprint(isa, sumOf(x), sumOf(numbers(labels)), len(labels), dim, a)
	return fits.get(key, func() warmup.Fit { return warmup.NewFit(x, labels, dim, a) })
}

// thinned is the same on fewer rows, evenly spaced, without -exhaustive: on 256 at the last
// checkpoint, and on 64 at those after the one of 256 rows. The time of a fit grows with the
// cube of its rows, and most promises hold for any pure function of them. From 250 rows on
// it tunes whatever it tunes for more.
func thinned(x []float64, labels []Label, dim int, a warmup.Request) warmup.Fit {
	const tuned, plain = 256, 64
	n, most := len(labels), plain
	if n == warmup.LastCheckpoint {
		most = tuned
	}
	if n <= tuned || *exhaustive {
		return memoised(x, labels, dim, a)
	}
	var fewX, weights []float64
	var few []Label
	for i := range most {
		at := i * n / most
		fewX, few, weights = append(fewX, x[at*dim:(at+1)*dim]...), append(few, labels[at]), append(weights, a.Weights[at])
	}
	a.Weights = weights
	return memoised(fewX, few, dim, a)
}

// newLearner is New with thinned fits, and newWhole with those that a user has.
func newLearner(t testing.TB, c Config) *Learner { t.Helper(); return newFitted(t, c, thinned) }
func newWhole(t testing.TB, c Config) *Learner   { t.Helper(); return newFitted(t, c, memoised) }

func newFitted(t testing.TB, c Config, by warmup.Fitter) *Learner {
	t.Helper()
	l, err := newWith(c, by)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// restore is Restore with thinned fits.
func restore(c Config, s State) (*Learner, error) { return restoreWith(c, s, thinned) }

var seed = maphash.MakeSeed()

// numbers are all that is in labels of one task.
func numbers(labels []Label) (all []float64) {
	for _, y := range labels {
		all = append(append(all, float64(y.Class), y.Value), y.More...)
	}
	return all
}

func sumOf[V comparable](x []V) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range x {
		maphash.WriteComparable(&h, v)
	}
	return h.Sum64()
}

// memo remembers values. Each is made once, by the first who wants it.
type memo[V any] struct {
	mu   sync.Mutex
	seen map[string]func() V
}

func (m *memo[V]) get(key string, make func() V) V {
	m.mu.Lock()
	if m.seen == nil {
		m.seen = map[string]func() V{}
	}
	v, ok := m.seen[key]
	if !ok {
		v = sync.OnceValue(make)
		m.seen[key] = v
	}
	m.mu.Unlock()
	return v()
}
