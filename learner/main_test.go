package learner

import (
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/features"
)

// TestMain has the learners of all tests share what takes long and is a pure
// function of rows.
func TestMain(m *testing.M) {
	var fits memo[fit]
	fitRows = func(x []float64, labels []Label, dim int, a asked) fit {
		key := fmt.Sprint(sumOf(x), sumOf(numbers(labels)), len(labels), dim, a)
		return fits.get(key, func() fit { return newFit(x, labels, dim, a) })
	}
	type found struct {
		leading
		ok bool
	}
	var directions memo[found]
	findLeading = func(l *leading, f *features.Bank, x []float32) bool {
		key := fmt.Sprint(sumOf(x), f.Map(), f.Blocks())
		d := directions.get(key, func() (d found) {
			d.ok = d.find(f, x)
			return d
		})
		l.excess, l.directions, l.norm, l.top = slices.Clone(d.excess), slices.Clone(d.directions), d.norm, d.top
		return d.ok
	}
	os.Exit(m.Run())
}

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
