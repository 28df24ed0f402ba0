package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// gram is the matrix ΦᵀΦ/n of the features of a block on n rows of the window.
type gram struct {
	rows    float64   // n
	visits  float64   // steps in the block since it was computed
	values  []float64 // lower triangle of (2·width)², row by row
	factors []float64 // Cholesky factor for each penalty of members; empty until they are needed
}

// newGram returns one of no rows.
func (w *newton) newGram() (g gram) {
	if last := len(w.spare) - 1; last >= 0 {
		g, w.spare = w.spare[last], w.spare[:last]
		g = gram{values: g.values, factors: g.factors[:0]}
	}
	return g
}

// refresh computes the Gram matrix of a block again from the last rows, if it is
// due, and the factors that depend on it.
func (w *newton) refresh(b int) {
	v, g := &w.window, &w.grams[b]
	g.visits++
	if n := float64(min(v.rows, gramRows)); w.grown(g, n) || g.visits > maxGramVisits {
		w.makeGram(b)
		g.visits, g.factors = 1, g.factors[:0]
	}
	if len(g.factors) == 0 {
		w.factorise(g)
	}
}

// grown reports whether the Gram matrix of a block is to be computed again, where that of n
// rows can be had.
func (w *newton) grown(g *gram, n float64) bool {
	if !w.Options.Lean || n == gramRows {
		return g.rows < n
	}
	return g.rows == 0 || float64(g.rows*gramGrowth) < n
}

// factorise computes the Cholesky factors of the members' Hessians, with the bound of
// the curvature. Members with the same penalty share theirs.
func (w *newton) factorise(g *gram) {
	size, h := 2*w.Options.BlockSize, w.curvature()
	g.factors = state.Extend(g.factors[:0], w.factors*size*size)
	for m, f := range w.factorOf {
		if slices.Index(w.factorOf, f) < m {
			continue
		}
		factor := g.factors[f*size*size : (f+1)*size*size]
		ridge := float64(w.penalty(m, g.rows)) + float64(w.Options.BlockSize)/2/g.rows
		at := 0
		for i := range size {
			row := factor[i*size : i*size+i+1]
			for j, v := range g.values[at : at+i+1] {
				row[j] = gramMargin * h * v
			}
			at += i + 1
			row[i] += ridge
		}
		if !vec.Cholesky(factor, size) { // not with finite features
			for i := range size {
				clear(factor[i*size : (i+1)*size])
				factor[i*size+i] = 1
			}
		}
	}
}

func (w *newton) makeGram(b int) {
	size, s, v, g := 2*w.Options.BlockSize, &w.scratch, &w.window, &w.grams[b]
	n := min(v.rows, gramRows)
	s.gram = state.Extend(s.gram[:0], size*size)
	clear(s.gram)
	// The last n rows are one or two runs of the ring.
	from := (v.at - n + v.rows) % v.rows
	for left := n; left > 0; {
		run := min(left, v.rows-from)
		s.phi = state.Extend(s.phi[:0], run*size)
		if w.bank.Holds() {
			s.held.Rows(s.phi, from)
		} else {
			w.bank.Features(s.phi, b, v.x[from*w.Dim:(from+run)*w.Dim])
		}
		vec.Gram(s.gram, s.phi, size, &s.vec)
		left -= run
		from = 0
	}
	g.values = state.Extend(g.values[:0], size*(size+1)/2)
	g.rows = float64(n)
	at := 0
	for i := range size {
		for j, d := range s.gram[i*size : i*size+i+1] {
			g.values[at+j] = d / g.rows
		}
		at += i + 1
	}
}
