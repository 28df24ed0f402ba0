package newton

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// rowSums are sums of lines over the rows of the window.
type rowSums struct {
	sum     []float64                 // of each line
	ordered cores.Order[panelScratch] // adds those of some panels of rows to it
}

// panelScratch is memory for panels of rows.
type panelScratch struct {
	first int       // panel
	lines []float64 // [panels][members × scores, in panels of vec.HeldColumns][vec.Lanes]
	f, g  []float64 // scores and gradients of a panel of one member, rows × scores
}

// linesPerTask is the number of lines that a core computes before they are added to the sums:
// 16 KB, half of a first-level cache.
const linesPerTask = 64

// sumLines returns the sums over the rows, in order, of the lines of the members. On as many
// cores as the step has, it calls f for each panel r of rows, to set a line for each score of
// the members that the panel has factors of.
func (w *newton) sumLines(f func(w *newton, r int, lines []float64, p *panelScratch)) []float64 {
	panels, columns := vec.Panels(w.window.rows, vec.Lanes), features.SumColumns(w.Head.Scores()*len(w.members))
	size, perTask := columns*vec.Lanes, max(1, linesPerTask/columns)
	s, inUse := &w.scratch.rowSums, w.scratch.gradient.inUse
	s.sum = state.Extend(s.sum[:0], columns)
	clear(s.sum)
	s.ordered.Begin(func(p *panelScratch) {
		for r, lines := p.first, p.lines; len(lines) > 0; r, lines = r+1, lines[size:] {
			n := features.SumColumns(inUse[r*vec.Lanes/vec.Run])
			vec.SumLines(s.sum[:n], lines[:n*vec.Lanes])
		}
	})
	w.scratch.team.Run(vec.Panels(panels, perTask), func(_, task int) {
		p := s.ordered.Take()
		p.first = task * perTask
		some := min(perTask, panels-p.first)
		p.lines = state.Extend(p.lines[:0], some*size)
		for i := range some {
			f(w, p.first+i, p.lines[i*size:(i+1)*size], p)
		}
		s.ordered.Give(task, p)
	})
	return s.sum
}
