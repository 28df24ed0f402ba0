package newton

import (
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// directionScratch is the memory of direction.
type directionScratch struct {
	penalties []float64              // of each column
	squares   []float64              // of the step, summed, of each column
	of        []int                  // columns in the order of their factors
	solutions []solution             // parts of that
	factors   []float64              // those of the block
	coef      []float64              // its coefficients
	sides     [][]float64            // right-hand sides, of each worker
	do        func(worker, task int) // a solution
}

// solution is columns that share a factor, at most perSolution of them.
type solution struct {
	factor int
	of     []int
}

// perSolution is the number of right-hand sides of vec.CholeskySolves.
const perSolution = 8

// direction computes the step of each column from its slope. For lengths it also sets size to the
// gain of each column, and the first numbers of slope to the curvature of its penalty.
func (w *newton) direction(g *gram, coef []float64) {
	size, k, columns := 2*w.Options.BlockSize, w.Head.Scores(), w.Head.Scores()*len(w.members)
	s, d := &w.scratch, &w.scratch.direction
	s.step = state.Extend(s.step[:0], size*columns)
	s.size = state.Extend(s.size[:0], columns)
	d.squares = state.Extend(d.squares[:0], columns)
	d.penalties = state.Extend(d.penalties[:0], columns)
	for c := range d.penalties {
		d.penalties[c] = w.penalty(c/k, float64(w.window.rows))
	}
	d.of, d.solutions = state.Extend(d.of[:0], columns)[:0], d.solutions[:0]
	for f := range w.factors {
		from := len(d.of)
		for c := range columns {
			if w.factorOf[c/k] == f {
				d.of = append(d.of, c)
			}
		}
		for of := d.of[from:]; len(of) > 0; of = of[min(perSolution, len(of)):] {
			d.solutions = append(d.solutions, solution{f, of[:min(perSolution, len(of))]})
		}
	}
	for len(d.sides) < s.team.Size() {
		d.sides = append(d.sides, nil)
	}
	if d.do == nil {
		d.do = func(worker, task int) { w.solve(worker, d.solutions[task]) }
	}
	d.factors, d.coef = g.factors, coef
	s.team.RunNear(len(d.solutions), vec.Panels(len(d.solutions), s.team.Size()), d.do) // neighbours have cache lines in common
	for c, p := range d.penalties {
		s.slope[c] = float64(p * d.squares[c])
	}
}

// solve computes the step of the columns of a solution.
func (w *newton) solve(worker int, now solution) {
	size, columns, s, d := 2*w.Options.BlockSize, w.Head.Scores()*len(w.members), &w.scratch, &w.scratch.direction
	for i := range size {
		slope, coef := s.slope[i*columns:(i+1)*columns], d.coef[i*columns:(i+1)*columns]
		for _, c := range now.of {
			slope[c] += float64(d.penalties[c] * coef[c])
		}
	}
	factor := d.factors[now.factor*size*size : (now.factor+1)*size*size]
	if len(now.of) > 2 {
		w.solveSides(worker, factor, now.of, perSolution)
	} else { // one at a time takes less time
		for l := range now.of {
			w.solveSides(worker, factor, now.of[l:l+1], 1)
		}
	}
	for _, c := range now.of {
		s.size[c], d.squares[c] = 0, 0
	}
	for i := range size {
		step, slope := s.step[i*columns:(i+1)*columns], s.slope[i*columns:(i+1)*columns]
		for _, c := range now.of {
			v := float64(step[c])
			s.size[c] += float64(v * slope[c])
			d.squares[c] += float64(v * v)
		}
	}
}

// solveSides computes the step of some columns, which have the same factor, with that many
// right-hand sides.
func (w *newton) solveSides(worker int, factor []float64, of []int, sides int) {
	size, columns, s := 2*w.Options.BlockSize, w.Head.Scores()*len(w.members), &w.scratch
	b := state.Extend(s.direction.sides[worker][:0], size*sides)
	s.direction.sides[worker] = b
	for i := range size {
		v, slope := b[i*sides:(i+1)*sides], s.slope[i*columns:(i+1)*columns]
		for l, c := range of {
			v[l] = slope[c]
		}
		clear(v[len(of):])
	}
	if sides == 1 {
		vec.CholeskySolve(factor, size, b)
	} else {
		vec.CholeskySolves(factor, size, b)
	}
	for i := range size {
		v, step := b[i*sides:(i+1)*sides], s.step[i*columns:(i+1)*columns]
		for l, c := range of {
			step[c] = float32(v[l])
		}
	}
}
