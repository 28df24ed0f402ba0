// Package baseline is the linear model that every Learner is compared with.
package baseline

import (
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// maxRidgeInputs is the number of inputs above which AdaGrad replaces the normal equations,
	// because their time for each row grows with the square of the inputs.
	maxRidgeInputs = 256

	// ridgePenalty is the penalty on each squared coefficient, as a multiple of the squared error
	// of one row: it is small compared with the error of the first mini-batch.
	ridgePenalty = 1

	// adagradRate is the step size. Chosen by trial, see docs/constants.md.
	adagradRate = 0.02
)

// Linear is the baseline for a kernel machine: least squares on the scaled inputs and an intercept.
// For classes it is one-vs-rest, with targets ±1. Up to maxRidgeInputs inputs it is the exact ridge
// solution, by the normal equations. They are solved again whenever the rows have grown by a
// twentieth, so that the solution lags behind by at most that. With more inputs it is AdaGrad
// (Duchi, Hazan and Singer 2011), row by row.
type Linear struct {
	dim, Targets  int
	columnFactors []float64 // square roots of the column weights; the penalty is on the coefficients without them
	w             []float64 // scores × (dim+1); the last of a row is the intercept

	Rows, Solved float64   // rows learned so far, and rows learned when w was last solved for
	gram         []float64 // lower triangle of (dim+1)², row by row
	moment       []float64 // scores × (dim+1)
	squares      []float64 // of AdaGrad's gradients, scores × (dim+1)

	z, f, target, factor []float64 // scratch
}

// NewLinear returns a Linear without rows, for inputs whose column weights have these square roots.
func NewLinear(columnFactors []float64, scores int) Linear {
	dim := len(columnFactors)
	n := dim + 1
	l := Linear{dim: dim, Targets: scores, columnFactors: columnFactors, w: make([]float64, scores*n)}
	if dim > maxRidgeInputs {
		l.squares = make([]float64, scores*n)
	} else {
		l.gram = make([]float64, n*(n+1)/2)
		l.moment = make([]float64, scores*n)
	}
	l.scratch()
	return l
}

func (l *Linear) scratch() {
	l.z, l.f = make([]float64, l.dim+1), make([]float64, l.Targets)
	if l.gram != nil {
		l.factor = make([]float64, (l.dim+1)*(l.dim+1))
	}
}

// Predict sets f to the scores of the scaled row x.
func (l *Linear) Predict(f []float64, x []float32) {
	n, k := l.dim+1, 0
	for ; k+4 <= len(f); k += 4 { // four sums at a time, which do not wait for each other
		a, b, c, d := l.w[k*n:][:n], l.w[(k+1)*n:][:n], l.w[(k+2)*n:][:n], l.w[(k+3)*n:][:n]
		s, t, u, v := a[l.dim], b[l.dim], c[l.dim], d[l.dim]
		for i, z := range x {
			z := float64(z)
			s += float64(a[i] * z)
			t += float64(b[i] * z)
			u += float64(c[i] * z)
			v += float64(d[i] * z)
		}
		f[k], f[k+1], f[k+2], f[k+3] = s, t, u, v
	}
	for ; k < len(f); k++ {
		w := l.w[k*n:][:n]
		s := w[l.dim]
		for i, v := range x {
			s += float64(w[i] * float64(v))
		}
		f[k] = s
	}
}

// Ready reports whether l has learned a mini-batch.
func (l *Linear) Ready() bool { return l.Solved > 0 }

// Add learns one row. targets has one number for each score.
func (l *Linear) Add(x []float32, targets []float64, weight float64) {
	l.Rows++
	if weight == 0 {
		return
	}
	for i, v := range x {
		l.z[i] = float64(v)
	}
	l.z[l.dim] = 1
	if l.squares != nil {
		l.descend(x, targets, weight)
		return
	}
	at := 0
	for i, v := range l.z {
		if row := l.gram[at : at+i+1]; v != 0 {
			v *= weight
			vec.Axpy(v, l.z[:i+1], row)
			for k, t := range targets {
				l.moment[k*(l.dim+1)+i] += float64(v * t)
			}
		}
		at += i + 1
	}
}

// descend takes a step of AdaGrad on one row.
func (l *Linear) descend(x []float32, targets []float64, weight float64) {
	n := l.dim + 1
	l.Predict(l.f, x)
	for k, t := range targets {
		r := max(-target.MaxResidual, min(target.MaxResidual, l.f[k]-t)) * weight
		vec.AdaGrad(l.w[k*n:(k+1)*n], l.squares[k*n:(k+1)*n], l.z, adagradRate, r)
	}
}

// End ends a mini-batch. It solves the equations again if their rows have grown by
// leastsquares.Growth.
func (l *Linear) End() {
	if l.squares != nil {
		l.Solved = l.Rows
		return
	}
	n := l.dim + 1
	if l.Rows < leastsquares.Growth*l.Solved || !l.factorise() {
		return
	}
	for k := range l.Targets {
		w := l.w[k*n : (k+1)*n]
		copy(w, l.moment[k*n:])
		vec.CholeskySolve(l.factor, n, w)
	}
	l.Solved = l.Rows
}

// factorise sets factor to the Cholesky factor of gram with the penalty added to its diagonal,
// except for the intercept. It returns false if there is no factor.
func (l *Linear) factorise() bool {
	n, at := l.dim+1, 0
	for i := range n {
		copy(l.factor[i*n:], l.gram[at:at+i+1])
		at += i + 1
		if i < l.dim {
			l.factor[i*n+i] += ridgePenalty * float64(l.columnFactors[i]*l.columnFactors[i])
		}
	}
	return vec.Cholesky(l.factor, n)
}

// Merge adds what o has learned since base. It does nothing for AdaGrad.
func (l *Linear) Merge(o, base *Linear) {
	if l.squares != nil {
		return
	}
	sum := l.equations()
	sum.Plus(1, o.equations())
	sum.Plus(-1, base.equations())
	l.Rows = sum.Rows
	l.Solved = min(l.Solved, l.Rows/leastsquares.Growth)
	l.End()
}

// equations returns the normal equations of l, which share its memory.
func (l *Linear) equations() leastsquares.Equations {
	return leastsquares.Equations{N: l.dim + 1, Targets: l.Targets, Gram: l.gram, Moment: l.moment, Rows: l.Rows}
}

// Widen adds the score of a class that has not occurred so far: its target is -1 in every row. The
// single score of two classes becomes one score for each class.
func (l *Linear) Widen(scores int) {
	if scores == l.Targets {
		return
	}
	n := l.dim + 1
	sums := make([]float64, n) // Σ weight·z, the last row of gram
	if l.gram != nil {
		copy(sums, l.gram[len(l.gram)-n:])
	}
	grow := func(x []float64, last func(i int) float64) []float64 {
		if x == nil {
			return nil
		}
		if l.Targets == 1 {
			both := make([]float64, 2*n)
			for i, v := range x {
				both[i], both[n+i] = -v, v
			}
			x = both
		}
		for i := range n {
			x = append(x, last(i))
		}
		return x
	}
	l.moment = grow(l.moment, func(i int) float64 { return -sums[i] })
	l.w = grow(l.w, func(i int) float64 {
		if i == l.dim && l.Ready() {
			return -1
		}
		return 0
	})
	if l.squares != nil {
		if l.Targets == 1 {
			l.squares = append(l.squares, l.squares...)
		}
		l.squares = append(l.squares, make([]float64, n)...)
	}
	l.Targets = scores
	l.scratch()
}

// Save writes l, which is the zero value before the first fit. The Learner saves its numbers of
// rows in another array. The names of the arrays are part of the snapshot format.
func (l *Linear) Save(a *state.Arrays, dim int) {
	state.Put(a, "linear.w", dim+1, l.w)
	state.Put(a, "linear.gram", 1, l.gram)
	state.Put(a, "linear.moment", dim+1, l.moment)
	state.Put(a, "linear.squares", dim+1, l.squares)
}

// LoadNone reads what Save wrote for the zero value.
func LoadNone(s *state.Reader, dim int) {
	state.Take[float64](s, "linear.w", 0, dim+1)
	state.Take[float64](s, "linear.gram", 0, 1)
	state.Take[float64](s, "linear.moment", 0, dim+1)
	state.Take[float64](s, "linear.squares", 0, dim+1)
}

// Load reads what Save wrote into a new l.
func (l *Linear) Load(s *state.Reader, rows, solved float64) {
	n := l.dim + 1
	l.Rows, l.Solved = rows, solved
	moments, squares := 0, 0
	if l.squares == nil {
		moments = l.Targets
	} else {
		squares = l.Targets
	}
	w := state.Take[float64](s, "linear.w", l.Targets, n)
	gram := state.Take[float64](s, "linear.gram", len(l.gram), 1)
	moment := state.Take[float64](s, "linear.moment", moments, n)
	square := state.Take[float64](s, "linear.squares", squares, n)
	if s.Err != nil {
		return
	}
	l.w = w
	if l.squares == nil {
		l.gram, l.moment = gram, moment
	} else {
		l.squares = square
	}
	for _, v := range l.squares {
		s.Require(v >= 0, "linear: a sum of squares is %v", v)
	}
	s.Require(l.Rows >= 0 && l.Solved >= 0 && l.Solved <= l.Rows, "linear: %v rows, last solved at %v", l.Rows, l.Solved)
}
