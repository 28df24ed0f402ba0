package learner

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	ridgeLimit   = 256 // inputs, above which the linear baseline is AdaGrad
	ridgePenalty = 1   // on each squared weight, in units of one row's squared error
	adagradRate  = 0.02
)

// linear is the baseline that a kernel machine has to beat: least squares on
// the scaled inputs and an intercept, one-vs-rest with targets ±1 for classes.
// It is the exact ridge solution, by its normal equations, of all rows up to
// some mini-batch of the last twentieth of them; above ridgeLimit inputs it is
// AdaGrad (Duchi, Hazan and Singer 2011), row by row.
type linear struct {
	dim, outputs int
	metric       []float64 // factors of the columns, which the penalty is to leave out
	w            []float64 // outputs × (dim+1); the last of a row is the intercept

	rows, solved float64   // mini-batch rows seen, and seen when w was solved for
	gram         []float64 // lower triangle of (dim+1)², row by row
	moment       []float64 // outputs × (dim+1)
	squares      []float64 // of AdaGrad's gradients, outputs × (dim+1)

	z, f, factor []float64 // scratch
}

func newLinear(metric []float64, outputs int) linear {
	dim := len(metric)
	n := dim + 1
	l := linear{dim: dim, outputs: outputs, metric: metric, w: make([]float64, outputs*n)}
	if dim > ridgeLimit {
		l.squares = make([]float64, outputs*n)
	} else {
		l.gram = make([]float64, n*(n+1)/2)
		l.moment = make([]float64, outputs*n)
	}
	l.scratch()
	return l
}

func (l *linear) scratch() {
	l.z, l.f = make([]float64, l.dim+1), make([]float64, l.outputs)
	if l.gram != nil {
		l.factor = make([]float64, (l.dim+1)*(l.dim+1))
	}
}

// predict sets f to the outputs for the scaled row x.
func (l *linear) predict(f []float64, x []float32) {
	n := l.dim + 1
	for k := range f {
		w := l.w[k*n : (k+1)*n]
		s := w[l.dim]
		for i, v := range x {
			s += float64(w[i] * float64(v))
		}
		f[k] = s
	}
}

// ready says whether there is anything to predict with yet.
func (l *linear) ready() bool { return l.solved > 0 }

// add learns one row; target k is what output k should be.
func (l *linear) add(x []float32, target []float64, weight float64) {
	l.rows++
	if weight == 0 {
		return
	}
	for i, v := range x {
		l.z[i] = float64(v)
	}
	l.z[l.dim] = 1
	if l.squares != nil {
		l.descend(x, target, weight)
		return
	}
	at := 0
	for i, v := range l.z {
		if row := l.gram[at : at+i+1]; v != 0 {
			v *= weight
			vec.Axpy(v, l.z[:i+1], row)
			for k, t := range target {
				l.moment[k*(l.dim+1)+i] += float64(v * t)
			}
		}
		at += i + 1
	}
}

// descend is a step of AdaGrad on one row.
func (l *linear) descend(x []float32, target []float64, weight float64) {
	n := l.dim + 1
	l.predict(l.f, x)
	for k, t := range target {
		r := max(-ResidualLimit, min(ResidualLimit, l.f[k]-t)) * weight
		w, squares := l.w[k*n:(k+1)*n], l.squares[k*n:(k+1)*n]
		for i, z := range l.z {
			if g := r * z; g != 0 {
				squares[i] += float64(g * g)
				w[i] -= adagradRate * g / math.Sqrt(squares[i])
			}
		}
	}
}

// end closes a mini-batch. The equations are solved again where they have
// grown by a twentieth, so that the cost of solving vanishes beside that of
// adding.
func (l *linear) end() {
	if l.squares != nil {
		l.solved = l.rows
		return
	}
	n := l.dim + 1
	if l.rows < ridgeGrowth*l.solved || !l.factorise() {
		return
	}
	for k := range l.outputs {
		w := l.w[k*n : (k+1)*n]
		copy(w, l.moment[k*n:])
		vec.CholeskySolve(l.factor, n, w)
	}
	l.solved = l.rows
}

// factorise sets factor to the Cholesky factor of gram with the penalty on its
// diagonal, the intercept's entry excepted, and says whether there is one.
func (l *linear) factorise() bool {
	n, at := l.dim+1, 0
	for i := range n {
		copy(l.factor[i*n:], l.gram[at:at+i+1])
		at += i + 1
		if i < l.dim {
			l.factor[i*n+i] += ridgePenalty * float64(l.metric[i]*l.metric[i])
		}
	}
	return vec.Cholesky(l.factor, n)
}

// merge adds what o has learned since base, where they are equations.
func (l *linear) merge(o, base *linear) {
	if l.squares != nil {
		return
	}
	sum := l.equations()
	sum.plus(1, o.equations())
	sum.plus(-1, base.equations())
	l.rows = sum.rows
	l.solved = min(l.solved, l.rows/ridgeGrowth)
	l.end()
}

// equations are l's own, in the form of ridge.
func (l *linear) equations() equations {
	return equations{n: l.dim + 1, outputs: l.outputs, gram: l.gram, moment: l.moment, rows: l.rows}
}

// widen adds the output of a class that no row before had: each of them taught
// it -1. The one output of two classes becomes an output for each.
func (l *linear) widen(outputs int) {
	if outputs == l.outputs {
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
		if l.outputs == 1 {
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
		if i == l.dim && l.ready() {
			return -1
		}
		return 0
	})
	if l.squares != nil {
		if l.outputs == 1 {
			l.squares = append(l.squares, l.squares...)
		}
		l.squares = append(l.squares, make([]float64, n)...)
	}
	l.outputs = outputs
	l.scratch()
}

// save writes l, which is the zero value before there is a fit. Its counts of rows
// are in an array of the Learner's.
func (l *linear) save(a *arrays, dim int) {
	put(a, "linear.w", dim+1, l.w)
	put(a, "linear.gram", 1, l.gram)
	put(a, "linear.moment", dim+1, l.moment)
	put(a, "linear.squares", dim+1, l.squares)
}

// loadNoLinear reads what the zero value wrote.
func loadNoLinear(s *source, dim int) {
	take[float64](s, "linear.w", 0, dim+1)
	take[float64](s, "linear.gram", 0, 1)
	take[float64](s, "linear.moment", 0, dim+1)
	take[float64](s, "linear.squares", 0, dim+1)
}

// load reads what save wrote into a new l.
func (l *linear) load(s *source, rows, solved float64) {
	n := l.dim + 1
	l.rows, l.solved = rows, solved
	moments, squares := 0, 0
	if l.squares == nil {
		moments = l.outputs
	} else {
		squares = l.outputs
	}
	w := take[float64](s, "linear.w", l.outputs, n)
	gram := take[float64](s, "linear.gram", len(l.gram), 1)
	moment := take[float64](s, "linear.moment", moments, n)
	square := take[float64](s, "linear.squares", squares, n)
	if s.err != nil {
		return
	}
	l.w = w
	if l.squares == nil {
		l.gram, l.moment = gram, moment
	} else {
		l.squares = square
	}
	for _, v := range l.squares {
		s.want(v >= 0, "linear.squares has %v", v)
	}
	s.want(l.rows >= 0 && l.solved >= 0 && l.solved <= l.rows, "linear: %v rows, solved at %v", l.rows, l.solved)
}
