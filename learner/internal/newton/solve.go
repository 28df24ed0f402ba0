package newton

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// solvable reports whether solveAll replaces the steps with which w settles: for numbers and the square
// loss, while a matrix of rows × rows takes little time and memory. Labels beyond the bound of the
// residuals are left to the steps, whose loss is not the square there.
func (w *newton) solvable() bool {
	v := &w.window
	if !w.Options.Solved || w.Head.Loss != (loss.Square{}) || v.rows >= youngRows {
		return false
	}
	for _, t := range v.targets {
		if !(math.Abs(t) <= target.MaxResidual) {
			return false
		}
	}
	return true
}

// solveAll sets the coefficients of each member to those with the least loss on its rows. Where the
// penalty is weak, steps only come near them. It does so in the dual form of ridge regression
// (Saunders, Gammerman and Vovk 1998): with the features Φ of the rows, which include leaves, their
// penalties P, their shares s in the mean loss, and the intercept b,
//
//	(ΦP⁻¹Φᵀ + diag(1/s)) a = y - b,  Σ aᵢ = 0,  α = P⁻¹Φᵀa
func (w *newton) solveAll() {
	most := w.mostBlocks(w.window.rows)
	for w.bank.Blocks() < most {
		w.addBlock()
	}
	d := w.newDual()
	w.scratch.team.Resize(len(w.members))
	w.scratch.team.Run(len(w.members), func(_, m int) {
		if l := d.factor(m); l != nil {
			d.solve(m, l)
		}
	})
	d.setRandom()
	d.setLeaves()
}

// dual is the ridge regressions of solveAll.
type dual struct {
	*newton
	products []float64   // of the random features of the rows of the window, rows × rows, a lower triangle
	leaves   []int       // of each member: its number among those with leaves; -1: it has none
	together [2][]uint16 // likewise for the leaves: in how many trees of all columns, and of pairs, two rows fall into the same one
	a        [][]float64 // members × scores: of each row, 0 for rows that the member does not learn from; nil if there is no solution
	features []float32   // of a block: rows × features, and features × rows
	across   []float32
}

func (w *newton) newDual() *dual {
	n, size, l := w.window.rows, 2*w.Options.BlockSize, &w.forest
	d := &dual{newton: w, products: make([]float64, n*n), features: make([]float32, n*size), across: make([]float32, n*size)}
	var memory vec.Scratch
	for b := range w.bank.Blocks() {
		d.load(b)
		vec.Gram(d.products, d.across, n, &memory)
	}
	for range w.members {
		d.leaves = append(d.leaves, -1)
	}
	d.a = make([][]float64, len(w.members)*w.Head.Scores())
	if l.trees == nil || len(l.members) == 0 {
		return d
	}
	for c, m := range l.members {
		d.leaves[m] = c
	}
	for kind := range d.together {
		d.together[kind] = make([]uint16, n*n)
	}
	for t := range l.trees.Trees() {
		d.pair(t)
	}
	return d
}

// pair counts the rows that fall into the same leaf of a tree.
func (d *dual) pair(tree int) {
	n, to := d.window.rows, d.together[0]
	if tree >= d.Options.Forest {
		to = d.together[1]
	}
	from, end := d.forest.trees.Tree(tree)
	in := make([][]int, end-from)
	for i, leaf := range d.forest.leavesOf(tree)[:n] {
		in[leaf] = append(in[leaf], i)
		for _, j := range in[leaf] {
			to[i*n+j]++
		}
	}
}

// load computes the features of a block.
func (d *dual) load(b int) {
	n, size := d.window.rows, 2*d.Options.BlockSize
	d.bank.Features(d.features, b, d.window.x[:n*d.Dim])
	for i := range n {
		for j, v := range d.features[i*size : (i+1)*size] {
			d.across[j*n+i] = v
		}
	}
}

// from returns the first row that member m learns from.
func (d *dual) from(m int) int { return max(0, d.window.rows-d.members[m].rows) }

// leastShare is the least share of a row in the mean loss, so that there is a finite number for a row
// of no weight.
const leastShare = 1e-15

// factor returns the Cholesky factor of the matrix of member m, for the rows that it learns from. There
// is none if no row has a weight.
func (d *dual) factor(m int) []float64 {
	from, all := d.from(m), d.window.rows
	n, p, total := all-from, d.penalty(m, float64(all)), d.window.weight(all-from)
	l := make([]float64, n*n)
	for i := range n {
		row := l[i*n : (i+1)*n]
		for j, v := range d.products[(from+i)*all+from : (from+i)*all+from+i+1] {
			row[j] = v / p
		}
		row[i] += 1 / max(leastShare, d.window.weights[from+i]/total)
	}
	if c := d.leaves[m]; c >= 0 {
		penalties := d.leafPenalties(c)
		for kind, penalty := range [...]float64{penalties.trees, penalties.pairs} {
			if penalty == 0 || math.IsInf(penalty, 1) { // there are none, or they have no share
				continue
			}
			for i := range n {
				row := l[i*n : i*n+i+1]
				for j, count := range d.together[kind][(from+i)*all+from:][:i+1] {
					row[j] += float64(count) / penalty
				}
			}
		}
	}
	if !vec.Cholesky(l, n) {
		return nil
	}
	return l
}

// solve sets a and the intercepts of member m, of whose matrix l is the factor.
func (d *dual) solve(m int, l []float64) {
	from, k := d.from(m), d.Head.Scores()
	ones := d.solution(l, from, func(int) float64 { return 1 })
	sum := total(ones)
	for j := range k {
		y := d.solution(l, from, func(i int) float64 { return d.window.targets[i*k+j] })
		b := total(y) / sum
		d.intercept[m*k+j] = b
		a := make([]float64, d.window.rows)
		for i, v := range y {
			a[from+i] = v - float64(b*ones[i])
		}
		d.a[m*k+j] = a
	}
}

// solution returns the solution for a right-hand side that begins with row from.
func (d *dual) solution(l []float64, from int, of func(i int) float64) []float64 {
	b := make([]float64, d.window.rows-from)
	for i := range b {
		b[i] = of(from + i)
	}
	vec.CholeskySolve(l, len(b), b)
	return b
}

func total(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}

// setRandom sets the coefficients of the random features.
func (d *dual) setRandom() {
	n, k, size, columns := d.window.rows, d.Head.Scores(), 2*d.Options.BlockSize, len(d.a)
	x := make([]float64, n)
	for b := range d.bank.Blocks() {
		d.load(b)
		for f := range size {
			for i, v := range d.across[f*n : (f+1)*n] {
				x[i] = float64(v)
			}
			coef := d.coef[(b*size+f)*columns:]
			for c, a := range d.a {
				if a != nil {
					coef[c] = vec.Dot(x, a) / d.penalty(c/k, float64(n))
				}
			}
		}
	}
}

// setLeaves sets the coefficients of the leaves.
func (d *dual) setLeaves() {
	l, k := &d.forest, d.Head.Scores()
	for c, m := range l.members {
		if l.trees == nil || d.a[m*k] == nil {
			continue
		}
		penalties := d.leafPenalties(c)
		for t := range l.trees.Trees() {
			penalty := penalties.trees
			if t >= d.Options.Forest {
				penalty = penalties.pairs
			}
			d.setTree(t, c, penalty)
		}
	}
}

// setTree sets the coefficients of a tree for member c of those with leaves.
func (d *dual) setTree(t, c int, penalty float64) {
	l, k := &d.forest, d.Head.Scores()
	from, end := l.trees.Tree(t)
	at := func(leaf int) []float64 { return l.coef[((from+leaf)*len(l.members)+c)*k:][:k] }
	for leaf := range end - from {
		clear(at(leaf))
	}
	for i, leaf := range l.leavesOf(t)[:d.window.rows] {
		coef := at(int(leaf))
		for j, a := range d.a[l.members[c]*k:][:k] {
			coef[j] += a[i] / penalty
		}
	}
}
