package newton

import "slices"

// pairMembers replace the members with leaves of a forest on trial if pairs of categories have
// trees. What depends on pairs of values is no smooth function of their indicators, so that random
// features have a small share in the kernels of these members. Numbers need a larger penalty than
// classes. Chosen by trial: docs/forest.md.
var pairMembers = []member{{0.3, windowRows, 0.1}, {0.03, windowRows, 0.1}}

// pairShares are the shares that the trees of pairs have in the kernels of the leaves of
// pairMembers; the trees of all columns have the rest. Chosen by trial: docs/forest.md.
var pairShares = []float64{1, 0.95}

// PairFactorBytes is the memory of a random feature's part of the factor of its block for
// the first of pairMembers, like factorBytes.
const PairFactorBytes = 4 * blockSize * 8

// plantPairs takes the last trees, as many as pairs, as those of pairs of categories.
func (w *newton) plantPairs(pairs int) {
	if w.forest.pairs = pairs; pairs == 0 {
		return
	}
	w.members = slices.Clone(w.members)
	for c, m := range w.forest.members {
		rows := w.members[m].rows
		w.members[m] = pairMembers[c]
		w.members[m].rows = rows
	}
	w.factorOf, w.factors = sharedFactors(w.members)
	for i := range w.grams {
		w.grams[i].factors = w.grams[i].factors[:0] // of other penalties
	}
}

// leafPenalties are the weights of half the squared coefficients of the leaves of a member, whose
// score is the plain sum of these coefficients. The weight is +Inf for trees that have no share in
// its kernel.
type leafPenalties struct{ trees, pairs float64 }

// leafPenalties returns the penalties of member c of those with leaves. The kernel of the trees of
// a kind is the mean of the kernels of these trees.
func (w *newton) leafPenalties(c int) leafPenalties {
	m := w.forest.members[c]
	rho, features := w.members[m].rho, float64(w.Options.MaxBlocks()*w.Options.BlockSize)
	penalty := w.penalty(m, float64(w.window.rows)) * rho / (1 - rho)
	trees, pairs := penalty*float64(w.Options.Forest)/features, penalty*float64(w.forest.pairs)/features
	if w.forest.pairs == 0 {
		return leafPenalties{trees: trees}
	}
	return leafPenalties{trees / (1 - pairShares[c]), pairs / pairShares[c]}
}
