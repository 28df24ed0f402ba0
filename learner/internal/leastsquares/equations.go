// Package leastsquares has the normal equations of least squares, with methods to add, forget and
// solve them.
package leastsquares

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Equations are the normal equations of least squares, Gram·w = Moment. They are sums over rows, so
// that the equations of the union of two sets of rows are the sum of the equations of both.
type Equations struct {
	N, Targets int
	Gram       []float64 // lower triangle, row-major, without the penalty
	Moment     []float64 // targets × N
	Rows       float64   // weight of the rows, as far as not forgotten
}

// New returns Equations without rows, of n coefficients for each target.
func New(n, targets int) Equations {
	return Equations{N: n, Targets: targets, Gram: make([]float64, n*(n+1)/2), Moment: make([]float64, targets*n)}
}

// Forget multiplies the weight of all rows so far by f.
func (e *Equations) Forget(f float64) {
	if f == 1 {
		return
	}
	for i := range e.Gram {
		e.Gram[i] *= f
	}
	for i := range e.Moment {
		e.Moment[i] *= f
	}
	e.Rows *= f
}

// Add adds rows, given the sums of their products: gram is n × n, of which only the lower triangle
// is read.
func (e *Equations) Add(gram, moment []float64, weight float64) {
	at := 0
	for i := range e.N {
		vec.Axpy(1, gram[i*e.N:i*e.N+i+1], e.Gram[at:at+i+1])
		at += i + 1
	}
	vec.Axpy(1, moment, e.Moment)
	e.Rows += weight
}

const (
	// interceptPenalty keeps the equations definite if no row has a weight.
	interceptPenalty = 1e-6

	// Rounding errors make equations indefinite by about 1e-16 of their largest element. After
	// these attempts the penalty is far above that.
	attempts      = 8
	penaltyGrowth = 10
)

// Factorise sets l, n × n, to the Cholesky factor of the equations with a penalty on the square of
// each unknown except the last, which is the intercept. If rounding has made them indefinite, it
// increases the penalty. It returns false if that does not help.
func (e *Equations) Factorise(l []float64, penalty float64) bool {
	for range attempts {
		at := 0
		for i := range e.N {
			copy(l[i*e.N:], e.Gram[at:at+i+1])
			at += i + 1
			l[i*e.N+i] += penalty
		}
		l[len(l)-1] += interceptPenalty - penalty
		if vec.Cholesky(l, e.N) {
			return true
		}
		penalty *= penaltyGrowth
	}
	return false
}

// Solve sets w, targets × n, to the solution. l is the factor that Factorise computed.
func (e *Equations) Solve(w, l []float64) { e.SolveSome(w, l, 0, e.Targets) }

// SolveSome is Solve for the targets [from, to).
func (e *Equations) SolveSome(w, l []float64, from, to int) {
	for ; to-from >= solvedTogether/2; from = min(from+solvedTogether, to) {
		e.solveSeveral(w, l, from, min(from+solvedTogether, to))
	}
	copy(w[from*e.N:to*e.N], e.Moment[from*e.N:])
	for k := from; k < to; k++ {
		vec.CholeskySolve(l, e.N, w[k*e.N:(k+1)*e.N])
	}
}

// solvedTogether is the number of targets that vec.CholeskySolves solves for together. It takes
// little longer than for a single target.
const solvedTogether = 8

// solveSeveral is SolveSome for at most solvedTogether targets.
func (e *Equations) solveSeveral(w, l []float64, from, to int) {
	n := e.N
	b := make([]float64, n*solvedTogether)
	for k := from; k < to; k++ {
		for i, v := range e.Moment[k*n : (k+1)*n] {
			b[i*solvedTogether+k-from] = v
		}
	}
	vec.CholeskySolves(l, n, b)
	for k := from; k < to; k++ {
		for i := range n {
			w[k*n+i] = b[i*solvedTogether+k-from]
		}
	}
}

// Plus adds the rows of o, multiplied by f; a factor of -1 removes them. e and o must have the same
// number of unknowns; e may have classes that are in no row of o.
func (e *Equations) Plus(f float64, o Equations) {
	o.Moment = slices.Clone(o.Moment)
	o.Widen(e.Targets)
	vec.Axpy(f, o.Gram, e.Gram)
	vec.Axpy(f, o.Moment, e.Moment)
	e.Rows = max(0, e.Rows+float64(f*o.Rows))
}

// Widen adds targets for classes that have not occurred so far: they are -1 in every row. The
// single target of two classes becomes one target for each class.
func (e *Equations) Widen(targets int) {
	for e.Targets < targets {
		if e.Targets == 1 {
			first := e.Moment
			e.Moment = make([]float64, 0, targets*e.N)
			for _, v := range first {
				e.Moment = append(e.Moment, -v)
			}
			e.Moment = append(e.Moment, first...)
			e.Targets = 2
		}
		for _, v := range e.Gram[len(e.Gram)-e.N:] { // Σ z
			e.Moment = append(e.Moment, -v)
		}
		e.Targets++
	}
}

// Save writes e under names that begin with name.
func (e *Equations) Save(a *state.Arrays, name string) {
	state.Put(a, name+".gram", 1, e.Gram)
	state.Put(a, name+".moment", e.N, e.Moment)
	state.Put(a, name+".rows", 1, []float64{e.Rows})
}

// Load reads what Save wrote into Equations of the same size.
func (e *Equations) Load(s *state.Reader, name string) {
	e.Gram = state.Take[float64](s, name+".gram", len(e.Gram), 1)
	e.Moment = state.Take[float64](s, name+".moment", e.Targets, e.N)
	rows := state.Take[float64](s, name+".rows", 1, 1)
	if s.Err == nil {
		e.Rows = rows[0]
		s.Require(e.Rows >= 0 && e.Rows < math.MaxFloat64, "%s has %v rows", name, e.Rows)
	}
}

// Power returns f to the power of n, which is the factor of forgetting for n rows.
func Power(f float64, n int) float64 {
	v := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			v *= f
		}
		f *= f
	}
	return v
}

// Growth is the growth of the rows after which equations are solved again, so that
// solving takes a constant share of the time. Chosen by trial, see docs/constants.md.
const Growth = 1.05
