package encode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Orders are uniform, have nothing to do with each other or with the order of the keys, and are a
// format: these values may never change.
func TestRandomOrdersAreUniformAndForever(t *testing.T) {
	const n = 4096
	for name, key := range map[string]func(i int) uint64{
		"hashes":  func(i int) uint64 { return rand.New(rand.NewPCG(1, uint64(i))).Uint64() >> 12 },
		"numbers": func(i int) uint64 { return uint64(i) },
	} {
		of := make([][]float64, 1+randomOrders)
		for i := range n {
			of[0] = append(of[0], float64(i)/n)
			for k := range randomOrders {
				of[1+k] = append(of[1+k], drawn(key(i), uint64(k+1)))
			}
		}
		for a := range of {
			for b := range a {
				sum := 0.0
				for i := range n {
					sum += (of[a][i] - 0.5) * (of[b][i] - 0.5)
				}
				if r := 12 * sum / n; math.Abs(r) > 0.06 { // four standard errors
					t.Errorf("%s: orders %d and %d have the correlation %.3f", name, a, b, r)
				}
			}
			sorted := slices.Clone(of[a])
			slices.Sort(sorted)
			for i, v := range sorted {
				if math.Abs(v-float64(i)/n) > 0.035 { // Kolmogorov and Smirnov, .0001
					t.Fatalf("%s: order %d is not uniform at %.3f", name, a, v)
				}
			}
		}
	}
	missing := int64(missingKey) // key 0 has the first numbers of SplitMix64 with the seed 0
	for _, test := range []struct {
		key  uint64
		n    uint64
		want float64
	}{{0, 1, 0.8833108082136426}, {12345, 2, 0.17046139909534253}, {maxKey - 1, 3, 0.4589720179285248}, {uint64(missing), 1, 0.14133295893008335}} {
		if got := drawn(test.key, test.n); got != test.want {
			t.Errorf("key %d, number %d: %v, want %v", test.key, test.n, got, test.want)
		}
	}
}

// A row with random orders is the row without, with three columns more for each category that has
// statistics, which ForTrees names.
func TestOrdersAreAdded(t *testing.T) {
	x, types, labels, weights := all(target.Classification)
	plain := NewPlan(types, x, labels, target.Classification)
	with := NewPlan(types, x, labels, target.Classification)
	with.Order()
	hidden := slices.Collect(with.ForTrees)
	if n := 3 * randomOrders; mostOrders < n || len(hidden) != n || with.Width() != plain.Width()+n || slices.Collect(plain.ForTrees) != nil {
		t.Fatalf("%d columns for trees, %d in all, without orders %d", len(hidden), with.Width(), plain.Width())
	}
	a, b := plain.Start().Rows(x, labels, weights), with.Start().Rows(x, labels, weights)
	values := map[float64]bool{}
	for i := range labels {
		var rest []float64
		for j, v := range b[i*with.Width() : (i+1)*with.Width()] {
			if slices.Contains(hidden, j) {
				values[v] = true
			} else {
				rest = append(rest, v)
			}
		}
		if !same(rest, a[i*plain.Width():(i+1)*plain.Width()]) {
			t.Fatalf("row %d: %v without the orders, want %v", i, rest, a[i*plain.Width():(i+1)*plain.Width()])
		}
	}
	if len(values) < 3*20 {
		t.Errorf("%d different values in the columns for trees", len(values))
	}
}

// With many categories each has fewer orders, or none.
func TestOrdersAreFew(t *testing.T) {
	for categories, want := range map[int]int{1: 3, 4: 3, 5: 2, 6: 2, 7: 1, 12: 1, 13: 0} {
		types := make([]Type, categories)
		var x []float64
		for j := range types {
			types[j] = Category
		}
		for i := range 100 {
			for range types {
				x = append(x, float64(i%(maxOneHot+1)))
			}
		}
		e := NewPlan(types, x, make([]target.Label, 100), target.Regression)
		e.Order()
		if got := slices.Collect(e.ForTrees); len(got) != categories*want {
			t.Errorf("%d categories: %d columns for trees", categories, len(got))
		}
	}
}

// State with another number of orders than a category can have is refused.
func TestNumberOfOrdersIsChecked(t *testing.T) {
	x, types, labels, _ := all(target.Regression)
	for _, n := range []float64{0, 1.5, randomOrders + 1, 1e9, math.NaN()} {
		e := NewPlan(types, x, labels, target.Regression)
		e.Order()
		for j := range e.columns {
			if c := &e.columns[j]; c.kind == asOrdered {
				c.parameters[0] = n
			}
		}
		var a state.Arrays
		e.Save(&a)
		s := &state.Reader{In: a}
		if Load(s, len(types)); s.End() == nil {
			t.Errorf("%v orders are read", n)
		}
	}
}
