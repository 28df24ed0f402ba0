package newton

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// rowSums are sums of lines over the rows of the window.
type rowSums struct {
	sum     []float64 // of each line
	ordered cores.Order[panelScratch]

	lines   func(w *newton, r int, lines []float64, p *panelScratch) // those of a panel of rows
	perTask int                                                      // panels
	add     func(p *panelScratch)                                    // adds the lines of a task to the sums
	do      func(worker, task int)                                   // does a task
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

// sumLines returns the sums over the rows, in order, of the lines of the members. It calls f for
// each panel r of rows, on as many cores as the step has. f sets a line for each score of the
// members that have factors in the panel.
func (w *newton) sumLines(f func(w *newton, r int, lines []float64, p *panelScratch)) []float64 {
	s, columns := &w.scratch.rowSums, features.SumColumns(w.Head.Scores()*len(w.members))
	if s.do == nil {
		s.add, s.do = w.addLines, w.linesTask
	}
	s.sum = state.Extend(s.sum[:0], columns)
	clear(s.sum)
	s.ordered.Begin(w.scratch.team.Size(), s.add)
	s.lines, s.perTask = f, max(1, linesPerTask/columns)
	w.scratch.team.RunNear(vec.Panels(vec.Panels(w.window.rows, vec.Lanes), s.perTask), w.runsTogether()*vec.Run/vec.Lanes/s.perTask, s.do)
	s.ordered.End()
	return s.sum
}

// columnsTogether is the number of columns of members with which cores alternate after every run of
// rows, 64 KiB of scores. With fewer columns a core takes several runs in a row: otherwise data
// that processors load ahead would often be those of another core.
const columnsTogether = 32

// runsTogether returns the number of consecutive runs of rows that the same core begins with in
// each phase of a step.
func (w *newton) runsTogether() int {
	n, runs := max(1, columnsTogether/features.SumColumns(w.Head.Scores()*len(w.members))), vec.Panels(w.window.rows, vec.Run)
	for n > 1 && runs < 8*n {
		n /= 2
	}
	return n
}

// linesTask sets the lines of a few panels, and has them added.
func (w *newton) linesTask(worker, task int) {
	s := &w.scratch.rowSums
	p, size := s.ordered.Take(worker), len(s.sum)*vec.Lanes
	p.first = task * s.perTask
	panels := min(s.perTask, vec.Panels(w.window.rows, vec.Lanes)-p.first)
	p.lines = state.Extend(p.lines[:0], panels*size)
	for i := range panels {
		s.lines(w, p.first+i, p.lines[i*size:(i+1)*size], p)
	}
	s.ordered.Give(worker, task, p)
}

// addLines adds the lines of the panels of p to the sums.
func (w *newton) addLines(p *panelScratch) {
	sum, inUse := w.scratch.rowSums.sum, w.scratch.gradient.inUse
	size := len(sum) * vec.Lanes
	for r, lines := p.first, p.lines; len(lines) > 0; r, lines = r+1, lines[size:] {
		n := features.SumColumns(inUse[r*vec.Lanes/vec.Run])
		vec.SumLines(sum[:n], lines[:n*vec.Lanes])
	}
}
