package learner

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

var fits memo[warmup.Fit]

// memoised is newFit, which takes long and is a pure function of rows: tests that
// restore learners at every row remember what it said of the same rows before.
func memoised(x []float64, labels []Label, dim int, a warmup.Request) warmup.Fit {
	key := fmt.Sprint(sumOf(x), sumOf(numbers(labels)), len(labels), dim, a)
	return fits.get(key, func() warmup.Fit { return warmup.NewFit(x, labels, dim, a) })
}

// restore is Restore, but for that.
func restore(c Config, s State) (*Learner, error) { return restoreWith(c, s, memoised) }

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

// memo remembers values.
type memo[V any] struct {
	mu   sync.Mutex
	seen map[string]V
}

func (m *memo[V]) get(key string, make func() V) V {
	m.mu.Lock()
	v, ok := m.seen[key]
	m.mu.Unlock()
	if ok {
		return v
	}
	v = make()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = map[string]V{}
	}
	m.seen[key] = v
	return v
}
