package newton

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// gradientScratch is the gradient of the losses of the window in the scores, and what
// the step needs of it.
type gradientScratch struct {
	factors   []float32 // of the features, in panels of rows [members × scores][vec.Lanes]
	curvature []float64 // along a step, likewise
	share     []float64 // of each row in the mean loss of a member, members × panels of rows × vec.Lanes
	divisor   []float64 // the same, and 1 for rows that the member does not learn from
	active    []bool    // members × panels of rows: whether the member learns from a row of the panel
	whole     []bool    // members: whether share and divisor are those of a whole window without weights
	wholeRows int       // and its rows
	inUse     []int     // for each run of rows: how many of the first columns have factors
	shift     []float64 // of the intercepts
}

// gradient computes the gradient of each member's weighted mean loss in the scores
// of each row of the window, and updates the intercepts. It returns false if the rows
// have no weight.
func (w *newton) gradient() bool {
	n, k, e := w.window.rows, w.Head.Scores(), len(w.members)
	g, panels := &w.scratch.gradient, vec.Panels(n, vec.Lanes)
	if !w.shares() {
		return false
	}
	g.factors = state.Extend(g.factors[:0], panels*vec.Lanes*e*k)
	g.curvature = state.Extend(g.curvature[:0], panels*vec.Lanes*e*k)
	g.shift = state.Extend(g.shift[:0], e*k)
	sum := w.sumLines((*newton).panelGradient)
	// The intercepts change before the block does, but its gradient is that from
	// before: it takes them into account at the next step.
	for c, d := range sum[:e*k] {
		g.shift[c] = d * interceptStep / w.curvature()
		w.intercept[c] -= g.shift[c]
	}
	return true
}

// shares computes the share of each row of the window in the mean loss of each member.
func (w *newton) shares() bool {
	n, k, e := w.window.rows, w.Head.Scores(), len(w.members)
	s, panels := &w.scratch, vec.Panels(n, vec.Lanes)
	s.total = state.Extend(s.total[:0], e)
	for m := range s.total {
		if s.total[m] = w.window.weight(w.members[m].rows); !(s.total[m] > minTotalWeight) {
			return false
		}
	}
	g, rows := &s.gradient, panels*vec.Lanes
	g.share, g.divisor = state.Extend(g.share[:0], e*rows), state.Extend(g.divisor[:0], e*rows)
	g.active, g.inUse = state.Extend(g.active[:0], e*panels), state.Extend(g.inUse[:0], vec.Panels(n, vec.Run))
	clear(g.inUse)
	if len(g.whole) != e || g.wholeRows != n {
		g.whole, g.wholeRows = make([]bool, e), n
	}
	for m := range w.members {
		active, whole := g.active[m*panels:(m+1)*panels], w.window.weighted == 0 && w.members[m].rows >= n
		if !whole || !g.whole[m] { // they are not those of the last step
			clear(active)
			w.memberShares(g.share[m*rows:(m+1)*rows], g.divisor[m*rows:(m+1)*rows], active, m)
		}
		g.whole[m] = whole
		for r, some := range active {
			if some {
				g.inUse[r*vec.Lanes/vec.Run] = (m + 1) * k
			}
		}
	}
	return true
}

// memberShares sets the shares of the rows in the mean loss of member m, their divisors, and
// the panels of rows that it learns from.
func (w *newton) memberShares(share, divisor []float64, active []bool, m int) {
	v, total := &w.window, w.scratch.total[m]
	clear(share)
	for i := range divisor {
		divisor[i] = 1
	}
	for from, to := range v.last(w.members[m].rows) {
		share := share[from:to]
		if v.weighted == 0 {
			each := 1 / total
			for i := range share {
				share[i] = each
			}
			for r := from / vec.Lanes; r*vec.Lanes < to; r++ {
				active[r] = true
			}
		} else {
			for i, weight := range v.weights[from:to] {
				share[i] = weight / total
				active[(from+i)/vec.Lanes] = active[(from+i)/vec.Lanes] || weight != 0
			}
		}
		if w.Head.Probabilities() {
			for i, weight := range v.weights[from:to] {
				if weight != 0 {
					divisor[from+i] = share[i]
				}
			}
		}
	}
}

// panelGradient computes the gradients of the members for a panel of rows. It also sets lines,
// which add up to the gradients in the intercepts.
func (w *newton) panelGradient(r int, lines []float64, p *panelScratch) {
	n, k, e := w.window.rows, w.Head.Scores(), len(w.members)
	g, panels, parabola := &w.scratch.gradient, vec.Panels(n, vec.Lanes), w.Head.ParabolaAlong(w.curvature())
	rows := min(vec.Lanes, n-r*vec.Lanes)
	if rows < vec.Lanes {
		clear(lines) // of no row: a value times its share of 0 need not be 0
	}
	for m := range e {
		at := (r*e + m) * k * vec.Lanes
		factors, curvature, lines := g.factors[at:at+k*vec.Lanes], g.curvature[at:at+k*vec.Lanes], lines[m*k*vec.Lanes:(m+1)*k*vec.Lanes]
		if !g.active[m*panels+r] {
			clear(factors)
			clear(lines)
			continue
		}
		w.lossGradient(lines, w.window.f[at:at+k*vec.Lanes], r, rows, p)
		from := (m*panels + r) * vec.Lanes
		vec.GradientLines(lines, g.share[from:from+vec.Lanes], g.divisor[from:from+vec.Lanes], target.MaxResidual, parabola, curvature, factors)
	}
}

// lossGradient sets the lines dst to the gradients of the losses of the first rows of panel r of
// the window, in their scores, which are the lines f. The rest of the panel is of no row.
func (w *newton) lossGradient(dst, f []float64, r, rows int, s *panelScratch) {
	k, targets := w.Head.Scores(), w.Head.Parts()
	y := w.window.targets[r*vec.Lanes*targets : (r*vec.Lanes+rows)*targets]
	if w.Head.Loss == (loss.Softmax{}) {
		vec.ShiftLines(dst, f)
		vec.Exps(dst, dst)
		vec.ShareLines(dst)
		for i, class := range y {
			dst[int(class)*vec.Lanes+i]--
		}
		return
	}
	if k == 1 {
		w.Head.Grads(dst[:rows], f[:rows], y, 1)
		return
	}
	s.f, s.g = state.Extend(s.f[:0], rows*k), state.Extend(s.g[:0], rows*k)
	for i := range s.f {
		s.f[i] = f[i%k*vec.Lanes+i/k]
	}
	w.Head.Grads(s.g, s.f, y, 1)
	for i, d := range s.g {
		dst[i%k*vec.Lanes+i/k] = d
	}
}

// lengths turns the gain of the direction in each score into the step size. The step ends at the
// minimum of a parabola along the direction, which is that of all rows of the window, whichever
// rows the Gram matrix is of. The curvature of the parabola is the bound of the loss's curvature,
// so that no step increases the loss of the window. For losses of probabilities it is that of
// target.CurvatureAlong instead.
//
// lengths returns the sum of the gains in multiples of the sum of the curvatures. If the Gram matrix
// is of rows like those of the window, this mean size is about 1, or more where h bounds a curvature
// that is smaller. It is 1 if there is nothing to gain.
func (w *newton) lengths() float64 {
	sum, s := w.sumLines((*newton).panelCurvature), &w.scratch
	gains, bounds := 0.0, 0.0
	for c, gain := range s.size {
		bound := sum[c] + s.slope[c]
		t := 0.0
		if gain > 0 && bound > 0 {
			t = min(maxStepFactor, gain/bound)
			gains, bounds = gains+gain, bounds+bound
		}
		s.size[c] = t
	}
	if bounds == 0 {
		return 1
	}
	return gains / bounds
}

// panelCurvature computes the curvatures of the members along the direction of each score, for
// a panel of rows.
func (w *newton) panelCurvature(r int, lines []float64, p *panelScratch) {
	k, e, g := w.Head.Scores(), len(w.members), &w.scratch.gradient
	panels, size := vec.Panels(w.window.rows, vec.Lanes), features.SumColumns(e*k)*vec.Lanes
	d := w.scratch.d[r*size : (r+1)*size]
	if w.bank.Holds() {
		w.scratch.held.Sum(d, r, w.columnsOf(r), &p.f)
	}
	for m := range e {
		from, end := m*k*vec.Lanes, (m+1)*k*vec.Lanes
		if !g.active[m*panels+r] {
			clear(lines[from:end])
			continue
		}
		curvature, rows := g.curvature[r*e*k*vec.Lanes:], (m*panels+r)*vec.Lanes
		vec.CurvatureLines(lines[from:end], d[from:end], curvature[from:end], g.share[rows:rows+vec.Lanes])
	}
}

// maxStepFactor bounds the step size, as a multiple of the one that the bound of the curvature
// leads to. Chosen by trial.
const maxStepFactor = 4
