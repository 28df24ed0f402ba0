package forest

import (
	"cmp"
	"math"
	"slices"
)

const (
	// MaxPairs is the largest number of pairs of categories that have a tree.
	MaxPairs = 12

	// maxCategories is the largest number of categories whose pairs are compared. It bounds the
	// time.
	maxCategories = 64

	// maxCells is the largest number of leaves of the tree of a pair.
	maxCells = 400

	// pairDoubt is the negative logarithm of the probability that a pair without an effect gets a
	// tree. maxCategories have about 2,000 pairs; if none has an effect, about one forest in 80
	// gets a tree.
	pairDoubt = 12

	// additiveSweeps is how many times the effect of each category by itself is computed, from what
	// the others leave. If the categories do not depend on each other, one sweep is enough. If two
	// with a canonical correlation of .9 share an effect, 30 sweeps leave less than a hundredth of
	// it.
	additiveSweeps = 30

	// leastRest is the least share of the variance that the effects of the single categories must
	// leave. A smaller rest comes from too few sweeps or from rounding, and is no noise to compare
	// with.
	leastRest = 1e-6
)

// WithPairs returns f with trees for at most MaxPairs pairs of categories, appended to its trees. A
// pair gets a tree if its values together tell more about the targets of s than the sum of what
// each of them tells, by more than chance. The leaves of its tree are the pairs of values.
// Categories are indicator columns that are next to each other. If there are no such pairs, the
// result has the trees of f. It is a function of f and the sample. Rows without weight do not
// count.
func (f *Forest) WithPairs(s Sample) *Forest {
	var rows []int
	for i, w := range s.Weights {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	all := s.categories(rows)
	if len(rows) == 0 || len(all) < 2 || len(all) > maxCategories {
		return f
	}
	r := newResiduals(s, rows)
	r.additive(all)
	var trees [][]node
	for _, p := range r.pairs(all) {
		trees = append(trees, cells(&all[p.a], &all[p.b]))
	}
	return f.with(trees)
}

// residuals are what is left of the targets of the rows.
type residuals struct {
	weights []float64
	rows    []int // that have a weight
	kinds   int   // targets, or classes
	of      []float64
	freedom float64 // of the residuals
	all     float64 // weighted sum of squares about the mean
}

func newResiduals(s Sample, rows []int) *residuals {
	r := &residuals{weights: s.Weights, rows: rows, kinds: s.Classes, freedom: float64(len(rows))}
	if s.Classes == 0 {
		r.kinds, r.of = len(s.Targets)/len(s.Weights), slices.Clone(s.Targets)
		return r
	}
	r.of = make([]float64, len(s.Weights)*s.Classes)
	for i, y := range s.Targets {
		r.of[i*s.Classes+int(y)] = 1
	}
	return r
}

// effects are the sums of the residuals in each cell of a division of the rows.
type effects struct {
	sums     []float64 // cells × kinds, weighted
	weights  []float64
	cell     func(i int) int
	occupied int // cells that have rows
}

func (r *residuals) effects(cells int, cell func(i int) int) effects {
	e := effects{sums: make([]float64, cells*r.kinds), weights: make([]float64, cells), cell: cell}
	for _, i := range r.rows {
		at := cell(i)
		if e.weights[at] == 0 {
			e.occupied++
		}
		e.weights[at] += r.weights[i]
		for k, v := range r.of[i*r.kinds : (i+1)*r.kinds] {
			e.sums[at*r.kinds+k] += float64(r.weights[i] * v)
		}
	}
	return e
}

// additive subtracts the mean, and the effect of each category by itself.
func (r *residuals) additive(all []category) {
	r.subtract(r.effects(1, func(int) int { return 0 }))
	r.freedom--
	r.all = r.squares()
	for sweep := range additiveSweeps {
		for j := range all {
			e := r.effects(all[j].values(), func(i int) int { return int(all[j].of[i]) })
			r.subtract(e)
			if sweep == 0 {
				r.freedom -= float64(all[j].occurring - 1)
			}
		}
	}
}

func (r *residuals) subtract(e effects) {
	for _, i := range r.rows {
		at := e.cell(i)
		for k := range r.kinds {
			r.of[i*r.kinds+k] -= e.sums[at*r.kinds+k] / e.weights[at]
		}
	}
}

// squares returns the weighted sum of the squares of the residuals.
func (r *residuals) squares() float64 {
	sum := 0.0
	for _, i := range r.rows {
		for _, v := range r.of[i*r.kinds : (i+1)*r.kinds] {
			sum += float64(float64(r.weights[i]*v) * v)
		}
	}
	return sum
}

// pair is two categories, and by how much the sum of squares that their cells explain is
// above what is expected by chance.
type pair struct {
	a, b   int
	excess float64
}

// pairs returns those that explain more than chance does, the largest first. Without an
// effect of the pair the sum of squares, in units of the variance, has about the distribution
// χ² with d degrees of freedom, which is above d + 2√(dt) + 2t with a probability of at most
// e^-t (Laurent and Massart 2000, lemma 1).
func (r *residuals) pairs(all []category) []pair {
	rest := r.squares()
	if !(r.freedom > 0 && rest > leastRest*r.all) {
		return nil
	}
	variance := rest / r.freedom // of a residual, summed over the kinds, for rows of weight 1
	var found []pair
	for a := range all {
		for b := a + 1; b < len(all); b++ {
			of, with, n := all[a].of, all[b].of, all[b].values()
			if all[a].values()*n > maxCells {
				continue
			}
			e := r.effects(all[a].values()*n, func(i int) int { return int(of[i])*n + int(with[i]) })
			freedom := max(1, float64(e.occupied-all[a].occurring-all[b].occurring+1))
			squares := 0.0
			for i, w := range e.weights {
				if w > 0 {
					for _, v := range e.sums[i*r.kinds : (i+1)*r.kinds] {
						squares += float64(v*v) / w
					}
				}
			}
			excess := squares/variance - freedom
			if excess > float64(2*math.Sqrt(freedom*pairDoubt))+2*pairDoubt {
				found = append(found, pair{a, b, excess})
			}
		}
	}
	slices.SortStableFunc(found, func(p, q pair) int { return cmp.Compare(q.excess, p.excess) })
	return found[:min(len(found), MaxPairs)]
}
