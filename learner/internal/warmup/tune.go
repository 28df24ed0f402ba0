package warmup

import (
	"math"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// tuning is a choice of the kernel's width and of the penalty, and its error.
type tuning struct {
	width  int // exponent of 2 of the kernel's scale, in typical ones: see squaredScale
	lambda int // exponent of 10 of the penalty on ‖f‖²/2, beside the mean loss of a row
	error  float64
}

// The range of the choices. Widths below narrowest, down to finest, are for functions
// that oscillate many times within the median distance. For others they would only
// recognise rows that are next to each other in the stream as well.
const (
	narrowest, widest  = -2, 2
	finest             = -6
	weakest, strongest = -6, 0
)

// safeTuning is the choice for few rows.
var safeTuning = tuning{width: 0, lambda: -3}

// tuner compares kernel ridge regressions on a sample by their leave-one-out errors,
// which take one factorisation: with G = (K+λnI)⁻¹, the residual of row i is
// (Gy)ᵢ/Gᵢᵢ (Allen 1974).
type tuner struct {
	sample
	kernel  kernel.Kernel
	squared float64   // scale of the kernel at width 0, squared
	squares []float64 // squared distances under the column weights, a lower triangle
	second  []float64 // the same under other weights, for the mean of two kernels; nil for one
	weights []float64 // of the rows, above 0 and 1 in the mean; nil for 1 each

	// The values of the kernel for a width. They are computed from the distances, except for
	// kernels that are not Radial and for fixed features, which need the rows.
	fixed      FixedFeatures
	z, secondZ []float64 // the rows, under either column weights
	matrix     []float64 // lower triangle; its diagonal is set only where same reads it
	at         int       // the width that matrix is for

	seen     map[[2]int]float64
	ridge    *vec.Ridge // of the matrix, with the intercept
	diagonal []float64  // of what is factored, and then of its inverse
	factor   []float64
	inverse  []float64 // for versions before Fourth
	v        []float64
	sides    []float64 // rows × targets that are solved for at once
}

// newTuner returns a tuner for rows under column weights. Width 0 is the scale of the kernel, if it
// has one, and otherwise a scale that is typical of the rows.
func newTuner(s sample, columnWeights []float64, k kernel.Kernel) *tuner {
	n := s.rows()
	t := &tuner{sample: s, kernel: k, squares: s.distances(columnWeights), z: s.weighted(columnWeights), at: widest + 1, seen: map[[2]int]float64{}}
	t.kernel = s.typical(k, columnWeights, t.squares)
	t.squared = s.squaredScale(t.kernel, columnWeights, t.squares)
	t.factor, t.v, t.diagonal = newMatrix(n), make([]float64, n), make([]float64, n)
	return t
}

// release gives the memory of t back, which is not to be used any more.
func (t *tuner) release() {
	for _, m := range [][]float64{t.squares, t.second, t.matrix, t.factor, t.inverse} {
		if m != nil {
			releaseMatrix(m)
		}
	}
	if t.ridge != nil {
		t.ridge.Release()
	}
	*t = tuner{}
}

// on has t compare models of these features.
func (t *tuner) on(f FixedFeatures) *tuner {
	t.fixed = f
	return t
}

// withSecond has t compare means of two kernels, of which the second has other
// column weights.
func (t *tuner) withSecond(columnWeights []float64) {
	t.second, t.secondZ = t.distances(columnWeights), t.sample.weighted(columnWeights)
}

// error returns the mean squared leave-one-out error of a choice.
func (t *tuner) error(c tuning) float64 {
	key := [2]int{c.width, c.lambda}
	if e, ok := t.seen[key]; ok {
		return e
	}
	n := t.rows()
	t.makeMatrix(c.width)
	for i := range n {
		noise := float64(penalty(c.lambda) * float64(n))
		if t.weights != nil {
			noise /= t.weights[i]
		}
		t.diagonal[i] = 1 + t.same(i) + noise
	}
	e := math.Inf(1)
	if t.ridge.Factor(t.diagonal) {
		t.ridge.Lower(t.factor)
		e = t.leaveOneOut()
	}
	t.seen[key] = e
	return e
}

// same returns the kernel's value at row i and itself, at the width of the matrix.
func (t *tuner) same(i int) float64 {
	n := t.rows()
	if _, own := t.kernel.(kernel.Featured); !own {
		return 1
	}
	return t.matrix[i*n+i]
}

// makeMatrix computes the matrix for a width, and what is factored, unless t has them for this
// width already.
func (t *tuner) makeMatrix(width int) {
	if t.at == width {
		return
	}
	n := t.rows()
	t.at = width
	if t.matrix == nil {
		t.matrix = newMatrix(n)
	}
	t.makeKernel(width)
	for i := range n {
		row := t.factor[i*n : i*n+i]
		for j, v := range t.matrix[i*n : i*n+i] {
			row[j] = v + 1 // for the intercept
		}
	}
	if t.ridge == nil {
		t.ridge = vec.NewRidge(t.factor, n)
	} else {
		t.ridge.Set(t.factor)
	}
}

// makeKernel makes the matrix for a width.
func (t *tuner) makeKernel(width int) {
	n, d := t.rows(), t.dim
	if radial, ok := t.kernel.(kernel.Radial); ok && t.fixed.Blocks == 0 {
		t.evalSquared(radial, t.squared*math.Ldexp(1, 2*width))
		return
	}
	k := withScale(t.kernel, math.Ldexp(math.Sqrt(t.squared), width))
	if t.fixed.Blocks > 0 {
		x := make([]float32, len(t.z))
		for i, v := range t.z {
			x[i] = float32(v)
		}
		t.fixed.products(t.matrix, x, k)
		return
	}
	for i := range n {
		for j := range i {
			v := k.Eval(t.z[i*d:(i+1)*d], t.z[j*d:(j+1)*d])
			if t.second != nil {
				v = (v + k.Eval(t.secondZ[i*d:(i+1)*d], t.secondZ[j*d:(j+1)*d])) / 2
			}
			t.matrix[i*n+j] = v
		}
		t.matrix[i*n+i] = atSame(k, t.z[i*d:(i+1)*d])
	}
}

// evalSquared makes the matrix of a kernel from the distances.
func (t *tuner) evalSquared(k kernel.Radial, squaredScale float64) {
	n := t.rows()
	for i := range n {
		row := t.matrix[i*n : i*n+i]
		k.EvalSquared(row, t.squares[i*n:i*n+i], squaredScale)
		if t.second == nil {
			continue
		}
		other := t.v[:i]
		k.EvalSquared(other, t.second[i*n:i*n+i], squaredScale)
		for j, v := range other {
			row[j] = (row[j] + v) / 2
		}
	}
}

// penalty returns 10 to the power of exponent, which is -6 to 0.
func penalty(exponent int) float64 {
	return [...]float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1}[exponent-weakest]
}
