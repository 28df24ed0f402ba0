package learner

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// equations are the normal equations of least squares: gram w = moment. They are
// sums over rows, and so those of two sets of rows are the sum of theirs.
type equations struct {
	n, outputs int
	gram       []float64 // lower triangle, row by row, without the penalty
	moment     []float64 // outputs × n
	rows       float64   // weight of the rows, as far as it is not forgotten
}

func newEquations(n, outputs int) equations {
	return equations{n: n, outputs: outputs, gram: make([]float64, n*(n+1)/2), moment: make([]float64, outputs*n)}
}

// forget multiplies all rows so far by f.
func (e *equations) forget(f float64) {
	if f == 1 {
		return
	}
	for i := range e.gram {
		e.gram[i] *= f
	}
	for i := range e.moment {
		e.moment[i] *= f
	}
	e.rows *= f
}

// add adds rows whose products are those of gram, n × n of which the lower
// triangle counts, and moment.
func (e *equations) add(gram, moment []float64, weight float64) {
	at := 0
	for i := range e.n {
		vec.Axpy(1, gram[i*e.n:i*e.n+i+1], e.gram[at:at+i+1])
		at += i + 1
	}
	vec.Axpy(1, moment, e.moment)
	e.rows += weight
}

// factorise sets l, n × n, to the Cholesky factor of the equations with a penalty
// on the square of each unknown but the last, the intercept, on which there is
// next to none. Where rounding has made them indefinite the penalty grows.
func (e *equations) factorise(l []float64, penalty float64) bool {
	for range 8 {
		at := 0
		for i := range e.n {
			copy(l[i*e.n:], e.gram[at:at+i+1])
			at += i + 1
			l[i*e.n+i] += penalty
		}
		l[len(l)-1] += 1e-6 - penalty
		if vec.Cholesky(l, e.n) {
			return true
		}
		penalty *= 10
	}
	return false
}

// solve sets w, outputs × n, to the solution, with l as it is after factorise.
func (e *equations) solve(w, l []float64) { e.solveSome(w, l, 0, e.outputs) }

// solveSome is solve for outputs [from, to) alone.
func (e *equations) solveSome(w, l []float64, from, to int) {
	copy(w[from*e.n:to*e.n], e.moment[from*e.n:])
	for k := from; k < to; k++ {
		vec.CholeskySolve(l, e.n, w[k*e.n:(k+1)*e.n])
	}
}

// leverage returns zᵀ gram⁻¹ z, with l as it is after factorise. It overwrites z.
func leverage(l, z []float64) float64 {
	n, sum := len(z), 0.0
	for i := range n {
		r := l[i*n : i*n+i+1]
		z[i] = (z[i] - vec.Dot(r[:i], z[:i])) / r[i]
		sum += float64(z[i] * z[i])
	}
	return sum
}

// plus adds the rows of o f times; with -1 it takes them away. o must have as
// many unknowns, and e may have outputs of classes that no row of o had.
func (e *equations) plus(f float64, o equations) {
	o.moment = slices.Clone(o.moment)
	o.widen(e.outputs)
	vec.Axpy(f, o.gram, e.gram)
	vec.Axpy(f, o.moment, e.moment)
	e.rows = max(0, e.rows+float64(f*o.rows))
}

// widen adds the outputs of classes that no row had: each taught them -1. The
// one output of two classes becomes an output for each.
func (e *equations) widen(outputs int) {
	for e.outputs < outputs {
		if e.outputs == 1 {
			first := e.moment
			e.moment = make([]float64, 0, outputs*e.n)
			for _, v := range first {
				e.moment = append(e.moment, -v)
			}
			e.moment = append(e.moment, first...)
			e.outputs = 2
		}
		for _, v := range e.gram[len(e.gram)-e.n:] { // Σ z
			e.moment = append(e.moment, -v)
		}
		e.outputs++
	}
}

func (e *equations) save(a *arrays, name string) {
	put(a, name+".gram", 1, e.gram)
	put(a, name+".moment", e.n, e.moment)
	put(a, name+".rows", 1, []float64{e.rows})
}

func (e *equations) load(s *source, name string) {
	e.gram = take[float64](s, name+".gram", len(e.gram), 1)
	e.moment = take[float64](s, name+".moment", e.outputs, e.n)
	rows := take[float64](s, name+".rows", 1, 1)
	if s.err == nil {
		e.rows = rows[0]
		s.want(e.rows >= 0 && e.rows < math.MaxFloat64, "%s has %v rows", name, e.rows)
	}
}

// power returns f to the power of n, by squaring.
func power(f float64, n int) float64 {
	v := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			v *= f
		}
		f *= f
	}
	return v
}

// ridgeGrowth is the growth of the rows after which equations are solved again, so
// that the cost of solving stays in proportion to that of adding rows.
const ridgeGrowth = 1.05
