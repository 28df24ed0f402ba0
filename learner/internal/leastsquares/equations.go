package leastsquares

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Equations are the normal equations of least squares: gram w = moment. They are
// sums over rows, and so those of two sets of rows are the sum of theirs.
type Equations struct {
	N, Outputs int
	Gram       []float64 // lower triangle, row by row, without the penalty
	Moment     []float64 // outputs × n
	Rows       float64   // weight of the rows, as far as it is not forgotten
}

func New(n, outputs int) Equations {
	return Equations{N: n, Outputs: outputs, Gram: make([]float64, n*(n+1)/2), Moment: make([]float64, outputs*n)}
}

// Forget multiplies all rows so far by f.
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

// Add adds rows whose products are those of gram, n × n of which the lower
// triangle counts, and moment.
func (e *Equations) Add(gram, moment []float64, weight float64) {
	at := 0
	for i := range e.N {
		vec.Axpy(1, gram[i*e.N:i*e.N+i+1], e.Gram[at:at+i+1])
		at += i + 1
	}
	vec.Axpy(1, moment, e.Moment)
	e.Rows += weight
}

// Factorise sets l, n × n, to the Cholesky factor of the equations with a penalty
// on the square of each unknown but the last, the intercept, on which there is
// next to none. Where rounding has made them indefinite the penalty grows.
func (e *Equations) Factorise(l []float64, penalty float64) bool {
	for range 8 {
		at := 0
		for i := range e.N {
			copy(l[i*e.N:], e.Gram[at:at+i+1])
			at += i + 1
			l[i*e.N+i] += penalty
		}
		l[len(l)-1] += 1e-6 - penalty
		if vec.Cholesky(l, e.N) {
			return true
		}
		penalty *= 10
	}
	return false
}

// Solve sets w, outputs × n, to the solution, with l as it is after factorise.
func (e *Equations) Solve(w, l []float64) { e.SolveSome(w, l, 0, e.Outputs) }

// SolveSome is solve for outputs [from, to) alone.
func (e *Equations) SolveSome(w, l []float64, from, to int) {
	copy(w[from*e.N:to*e.N], e.Moment[from*e.N:])
	for k := from; k < to; k++ {
		vec.CholeskySolve(l, e.N, w[k*e.N:(k+1)*e.N])
	}
}

// Leverage returns zᵀ gram⁻¹ z, with l as it is after factorise. It overwrites z.
func Leverage(l, z []float64) float64 {
	n, sum := len(z), 0.0
	for i := range n {
		r := l[i*n : i*n+i+1]
		z[i] = (z[i] - vec.Dot(r[:i], z[:i])) / r[i]
		sum += float64(z[i] * z[i])
	}
	return sum
}

// Plus adds the rows of o f times; with -1 it takes them away. o must have as
// many unknowns, and e may have outputs of classes that no row of o had.
func (e *Equations) Plus(f float64, o Equations) {
	o.Moment = slices.Clone(o.Moment)
	o.Widen(e.Outputs)
	vec.Axpy(f, o.Gram, e.Gram)
	vec.Axpy(f, o.Moment, e.Moment)
	e.Rows = max(0, e.Rows+float64(f*o.Rows))
}

// Widen adds the outputs of classes that no row had: each taught them -1. The
// one output of two classes becomes an output for each.
func (e *Equations) Widen(outputs int) {
	for e.Outputs < outputs {
		if e.Outputs == 1 {
			first := e.Moment
			e.Moment = make([]float64, 0, outputs*e.N)
			for _, v := range first {
				e.Moment = append(e.Moment, -v)
			}
			e.Moment = append(e.Moment, first...)
			e.Outputs = 2
		}
		for _, v := range e.Gram[len(e.Gram)-e.N:] { // Σ z
			e.Moment = append(e.Moment, -v)
		}
		e.Outputs++
	}
}

func (e *Equations) Save(a *state.Arrays, name string) {
	state.Put(a, name+".gram", 1, e.Gram)
	state.Put(a, name+".moment", e.N, e.Moment)
	state.Put(a, name+".rows", 1, []float64{e.Rows})
}

func (e *Equations) Load(s *state.Reader, name string) {
	e.Gram = state.Take[float64](s, name+".gram", len(e.Gram), 1)
	e.Moment = state.Take[float64](s, name+".moment", e.Outputs, e.N)
	rows := state.Take[float64](s, name+".rows", 1, 1)
	if s.Err == nil {
		e.Rows = rows[0]
		s.Require(e.Rows >= 0 && e.Rows < math.MaxFloat64, "%s has %v rows", name, e.Rows)
	}
}

// Power returns f to the power of n, by squaring.
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

// Growth is the growth of the rows after which equations are solved again, so
// that the cost of solving stays in proportion to that of adding rows.
const Growth = 1.05
