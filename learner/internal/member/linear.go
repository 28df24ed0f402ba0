package member

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// maxInputs is the number of inputs above which AdaGrad replaces Newton's
	// equations, whose time for each row grows with its square.
	maxInputs = 256

	// penalty is that on each squared coefficient of a standardised column, as a
	// multiple of the loss of one row.
	penalty = 1

	// solveRows is the least number of rows between two solutions. Solving takes no longer
	// than learning this many rows, up to solveInputs inputs. With more inputs, the number
	// of rows grows in proportion to them.
	solveRows, solveInputs = 32, 64

	// maxCoefficient bounds the magnitude of a coefficient.
	maxCoefficient = 1e12
)

// Linear is a linear model that forgets. It minimises a penalty plus a weighted sum over all rows,
// in which each row has a parabola in place of its loss: the one that fits the loss at the
// prediction for the row. The weight of a row falls by a factor with every later row. For the
// square loss the minimum is the least squares solution; for classes each solution is a step of
// Newton's method.
//
// Above maxInputs inputs it is AdaGrad (Duchi, Hazan and Singer 2011), row by row, and forgets
// nothing.
type Linear struct {
	forget float64 // factor of the weight of the rows so far, for each row
	last   bool    // whether the last label is among the inputs

	head    target.Head
	factors []float64 // that inputs are multiplied by: the inverse of the column weights' roots
	leastsquares.Equations
	w       []float64 // scores × n, the last of a score is the intercept; nil before the first fit
	since   int64     // rows since the last solution
	solved  bool      // whether there was one
	adagrad bool
	squares []float64 // of AdaGrad's gradients, scores × n
	equal   *Linear   // member whose coefficients are those of l above maxInputs inputs; nil if there is none

	z, f, g, gram, moment, factor []float64 // scratch
	most, residuals               []float64 // likewise, see limit
	scaled                        []float32
	vec                           vec.Scratch
}

func linearKind(forget float64, last bool) Kind {
	k := Kind{
		Name: fmt.Sprintf("linear:%v", forget), Help: fmt.Sprintf("linear model that forgets its rows by a factor of %v for each later one", forget),
		Labels: last,
		Suits:  func(target.Task) bool { return true },
		New:    func(h target.Head) Member { return &Linear{forget: forget, last: last, head: h} },
	}
	if last {
		k.Name, k.Help = "linear+label", k.Help+", with the last label of the key among its inputs"
	}
	return k
}

// Share has l take its coefficients from of above maxInputs inputs, if they are the same: AdaGrad
// forgets nothing, so that members that differ in what they forget are equal. of must learn the same
// chunks, each of them before l.
func (l *Linear) Share(of *Linear) {
	if l.last == of.last {
		l.equal = of
	}
}

// Start begins again. The member predicts once it has learned some rows.
func (l *Linear) Start(h target.Head, columnFactors []float64) bool {
	l.head = h
	l.factors = make([]float64, len(columnFactors))
	for i, v := range columnFactors {
		if v > 0 {
			l.factors[i] = 1 / v
		}
	}
	n := len(l.factors) + 1
	if l.last {
		n += lastInputs(&h)
	}
	l.adagrad = n-1 > maxInputs
	l.since, l.solved = 0, false
	l.w = make([]float64, h.Scores()*n)
	if l.adagrad {
		l.Equations, l.squares = leastsquares.Equations{N: n, Targets: h.Scores()}, make([]float64, len(l.w))
	} else {
		l.Equations, l.squares = leastsquares.New(n, h.Scores()), nil
	}
	return true
}

// lastInputs returns the number of inputs that encode the last label: its targets, or a
// point on the unit circle for a class.
func lastInputs(h *target.Head) int {
	if h.Task == target.Regression {
		return h.Targets()
	}
	return 2
}

// inputs sets z to the inputs of a row.
func (l *Linear) inputs(x []float32, last *target.Label) {
	l.z = state.Extend(l.z[:0], l.N)
	clear(l.z)
	l.z[l.N-1] = 1
	for i, v := range x {
		if z := float64(v) * l.factors[i]; z == z {
			l.z[i] = max(-maxInput, min(maxInput, z))
		}
	}
	if !l.last || last.Task == target.Auto {
		return
	}
	z := l.z[len(x) : l.N-1]
	if l.head.Task != target.Regression {
		z[1], z[0] = vec.Sincos(float64(last.Class%1_000_000) * goldenAngle)
		return
	}
	for j := range z {
		z[j] = max(-lastBound, min(lastBound, l.head.Target(*last, j)))
	}
}

const (
	// lastBound bounds a last label, in standard deviations, so that an outlier is not the only row
	// that counts. Most labels are far below it.
	lastBound = 100

	// maxInput bounds an input, so that the products of two have a finite sum.
	maxInput = 1e9

	// goldenAngle is the angle between a class and the next one. It keeps the first dozen classes
	// well apart.
	goldenAngle = math.Pi * 0.7639320225002102 // 3-√5
)

func (l *Linear) Score(f []float64, r *Row) bool {
	if !l.solved || len(r.X) != len(l.factors) || l.last && r.Last.Task == target.Auto {
		return false
	}
	l.inputs(r.X, &r.Last)
	l.scores(f)
	for j, u := range l.head.Scales {
		if to := r.Head.Scales[j]; u != to && l.head.Task == target.Regression { // before the first fit
			f[j] = (u.Mean + float64(u.Deviation*f[j]) - to.Mean) / to.Deviation
		}
	}
	return true
}

// scores sets f to the scores of the row in z.
func (l *Linear) scores(f []float64) {
	vec.Dots(f, l.z, l.w)
}

// Ready reports whether l has coefficients.
func (l *Linear) Ready() bool { return l.solved }

// AddTo adds share times the coefficients for score c of the head h to w.
func (l *Linear) AddTo(w []float64, c int, share float64, h *target.Head) {
	of := l.w[c*l.N : (c+1)*l.N]
	if h.Task == target.Regression && l.head.Scales[c] != h.Scales[c] { // before the first fit
		u, to := l.head.Scales[c], h.Scales[c]
		w[len(w)-1] += float64(share * ((u.Mean - to.Mean) / to.Deviation))
		share *= u.Deviation / to.Deviation
	}
	for i, v := range l.factors {
		w[i] += float64(share * float64(of[i]*v))
	}
	w[len(w)-1] += float64(share * of[l.N-1])
}

func (l *Linear) Learn(c *Chunk) {
	d := len(l.factors)
	if l.w == nil || len(c.X) != len(c.Labels)*d {
		return // before the first fit
	}
	if l.adagrad {
		if l.equal == nil {
			l.descend(c)
		} else {
			l.w, l.squares, l.solved = l.equal.w, l.equal.squares, l.equal.solved
		}
		return
	}
	n, k, rows := l.N, l.head.Scores(), len(c.Labels)
	h := l.head.Loss.Smoothness()
	l.limit(c)
	l.scaled, l.gram, l.moment = state.Extend(l.scaled[:0], rows*n), state.Extend(l.gram[:0], n*n), state.Extend(l.moment[:0], k*n)
	l.f, l.g = state.Extend(l.f[:0], k), state.Extend(l.g[:0], k)
	clear(l.gram)
	clear(l.moment)
	total := 0.0
	for i, y := range c.Labels {
		weight := c.Weights[i]
		l.inputs(c.X[i*d:(i+1)*d], &c.Last[i])
		l.scores(l.f)
		l.head.Grad(l.g, l.f, y)
		curvature := h
		if l.head.Probabilities() {
			curvature = target.CurvatureAt(l.g, h)
		}
		root := math.Sqrt(weight * curvature)
		for j, v := range l.z {
			l.scaled[i*n+j] = float32(v * root)
		}
		for s, g := range l.g {
			g = max(-l.most[s], min(l.most[s], g))
			vec.Axpy(weight*(float64(curvature*l.f[s])-g), l.z, l.moment[s*n:(s+1)*n])
		}
		total += weight
	}
	vec.Gram(l.gram, l.scaled, n, &l.vec)
	l.Forget(leastsquares.Power(l.forget, rows))
	l.Add(l.gram, l.moment, total)
	if l.since += int64(rows); l.since >= l.mostSince() || !l.solved {
		l.solve()
	}
}

// limit sets most to the largest residual of each score that counts in full in the rows of c. It is
// target.MaxResidual, or mostSpreads times the root mean square of the residuals without the
// largest ones, if that is more: if most rows have large residuals, these are no outliers, but the
// labels have changed.
func (l *Linear) limit(c *Chunk) {
	k, d, rows := l.head.Scores(), len(l.factors), len(c.Labels)
	l.most = state.Extend(l.most[:0], k)
	for s := range l.most {
		l.most[s] = target.MaxResidual
	}
	if l.head.Task != target.Regression {
		return
	}
	l.f, l.residuals = state.Extend(l.f[:0], k), state.Extend(l.residuals[:0], k*rows)
	for i, y := range c.Labels {
		l.inputs(c.X[i*d:(i+1)*d], &c.Last[i])
		l.scores(l.f)
		for s, f := range l.f {
			l.residuals[s*rows+i] = math.Abs(f - l.head.Target(y, s))
		}
	}
	for s := range l.most {
		all := l.residuals[s*rows : (s+1)*rows]
		slices.Sort(all)
		sum, rest := 0.0, all[:rows-(rows+15)/16]
		for _, v := range rest {
			sum += float64(v * v)
		}
		if len(rest) > 0 {
			l.most[s] = max(l.most[s], mostSpreads*math.Sqrt(sum/float64(len(rest))))
		}
	}
}

// mostSpreads is the largest residual that counts in full, in root mean squares of the residuals of
// a chunk without the largest ones. Chosen by trial.
const mostSpreads = 10

// mostSince returns the number of rows since the last solution from which on l is solved
// again.
func (l *Linear) mostSince() int64 { return int64(max(solveRows, solveRows*l.N/solveInputs)) }

// solve sets the coefficients to the solution. If there is none, l begins again without rows.
func (l *Linear) solve() {
	l.factor = state.Extend(l.factor[:0], l.N*l.N)
	l.since = 0
	l.solved = l.Factorise(l.factor, penalty)
	if l.solved {
		l.Solve(l.w, l.factor)
	}
	for _, v := range l.w {
		l.solved = l.solved && math.Abs(v) < maxCoefficient
	}
	if !l.solved {
		l.Equations = leastsquares.New(l.N, l.Targets)
		clear(l.w)
	}
}

// Widen keeps the coefficients of the other classes, as if the rows so far had had
// their predictions as labels. The new class has the share of one row.
func (l *Linear) Widen(h target.Head, total float64) {
	from := l.head.Scores()
	l.head = h
	k := h.Scores()
	if l.w == nil || from == k {
		return
	}
	l.w = widened(&h, l.w, from, l.N)
	f := make([]float64, 0, k)
	for c := range k - 1 {
		f = append(f, l.w[c*l.N+l.N-1])
	}
	l.w[k*l.N-1] = h.NewClassScore(f, total)
	if l.adagrad {
		squares := make([]float64, k*l.N)
		for c := range k - 1 {
			copy(squares[c*l.N:(c+1)*l.N], l.squares[min(c, from-1)*l.N:])
		}
		l.squares, l.Targets = squares, k
		return
	}
	l.Targets, l.Moment = k, make([]float64, k*l.N)
	for c := range k {
		w, moment := l.w[c*l.N:(c+1)*l.N], l.Moment[c*l.N:(c+1)*l.N]
		at := 0
		for i := range l.N {
			row := l.Gram[at : at+i+1]
			moment[i] += vec.Dot(row, w[:i+1])
			vec.Axpy(w[i], row[:i], moment[:i])
			at += i + 1
		}
	}
}

// widened returns the coefficients w, from scores × n, with as many as h has.
func widened(h *target.Head, w []float64, from, n int) []float64 {
	rows := make([]float64, len(w)) // n × scores
	for c := range from {
		for i := range n {
			rows[i*from+c] = w[c*n+i]
		}
	}
	rows = h.Widen(rows, from)
	k := h.Scores()
	out := make([]float64, n*k)
	for c := range k {
		for i := range n {
			out[c*n+i] = rows[i*k+c]
		}
	}
	return out
}

func (l *Linear) Save(a *state.Arrays, prefix string) {
	state.Put(a, prefix+".w", max(1, l.N), l.w)
	if l.adagrad {
		state.Put(a, prefix+".squares", l.N, l.squares)
		return
	}
	flag := int64(0)
	if l.solved {
		flag = 1
	}
	state.Put(a, prefix+".since", 2, []int64{l.since, flag})
	l.Equations.Save(a, prefix)
}

func (l *Linear) Load(s *state.Reader, prefix string) {
	rows := l.Targets
	if l.w == nil {
		rows = 0
	}
	w := state.Take[float64](s, prefix+".w", rows, max(1, l.N))
	for _, v := range w {
		s.Require(math.Abs(v) < maxCoefficient, "%s: a coefficient is %v", prefix, v)
	}
	if l.adagrad {
		l.squares = state.Take[float64](s, prefix+".squares", l.Targets, l.N)
		for _, v := range l.squares {
			s.Require(v >= 0, "%s: a sum of squares is %v", prefix, v)
		}
		l.solved = l.hasStepped()
	} else {
		since := state.Take[int64](s, prefix+".since", 1, 2)
		l.Equations.Load(s, prefix)
		if s.Err == nil {
			l.since, l.solved = since[0], since[1] == 1
			s.Require(since[0] >= 0 && since[0] < l.mostSince() && since[1]>>1 == 0, "%s: the last solution was %v", prefix, since)
		}
	}
	if s.Err == nil && l.w != nil {
		l.w = w
	}
}
