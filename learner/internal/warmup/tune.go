package warmup

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
)

// tuning is a choice of the kernel's width and of the penalty, and the error
// that made it the best.
type tuning struct {
	width  int // exponent of 2 of the kernel's width in median distances
	lambda int // exponent of 10 of the penalty on ‖f‖²/2, beside the mean loss of a row
	error  float64
}

// The choices, and the one that is safe where there are few rows. The finest
// width is for what turns many times within the median distance: usually it
// would only tell apart rows that are next to each other in the stream as well.
const (
	narrowest, widest  = -2, 2
	finest             = -6
	weakest, strongest = -6, 0
)

var safeTuning = tuning{width: 0, lambda: -3}

// worth is what is left of the error where a weaker penalty is
// worth it: where nothing can be predicted all choices are alike, and the weak
// ones learn the noise by heart.
const worth = 0.99

// tuner compares kernel ridge regressions on a sample by their error on each
// row when the others are learned (leave-one-out), which takes one factorisation:
// with (K+λnI)⁻¹ = G, row i is off by (Gy)ᵢ/Gᵢᵢ (Allen 1974).
type tuner struct {
	sample
	kernel  features.Kernel
	squared float64   // scale of the kernel at width 0, squared
	squares []float64 // squared distances under the column weights, a lower triangle
	second  []float64 // under others: the kernel is the mean of its values at both; nil for none
	weights []float64 // of the rows, above 0 and 1 in the mean; nil for 1 each

	// The values of the kernel for a width where they are not computed from the
	// distances: those of kernels that are not Radial, and those of fixed features.
	fixed      FixedFeatures
	z, secondZ []float64 // the rows, under either column weights
	matrix     []float64 // lower triangle
	at         int       // the width

	seen    map[[2]int]float64
	factor  []float64
	inverse []float64
	v       []float64
}

// newTuner returns a tuner for rows under column weights. A kernel that has its
// scale has it at width 0; for the others that is typical of the rows.
func newTuner(s sample, columnWeights []float64, k features.Kernel) *tuner {
	n := s.rows()
	t := &tuner{sample: s, kernel: k, squares: s.distances(columnWeights), z: s.weighted(columnWeights), at: widest + 1, seen: map[[2]int]float64{}}
	t.squared = s.squaredScale(k, columnWeights, t.squares)
	t.factor, t.inverse, t.v = make([]float64, n*n), make([]float64, n*n), make([]float64, n)
	return t
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

// fineWorth is what is left of the error where a kernel below the narrowest is
// worth it.
const fineWorth = 0.5

// search returns the best choice that it finds downhill from one to start at:
// in the penalty for each width, and in the width. Where wide kernels are all
// alike there is no way down, therefore it looks from the finest as well.
func (t *tuner) search(start tuning) tuning {
	best := t.downhill(start, narrowest)
	if fine := t.downhill(tuning{width: finest, lambda: start.lambda}, finest); fine.error < fineWorth*best.error {
		return fine
	}
	return best
}

func (t *tuner) downhill(start tuning, least int) tuning {
	best := t.descend(start)
	for _, turn := range []int{-1, 1} {
		moved := false
		for {
			next := tuning{width: best.width + turn, lambda: best.lambda}
			if next.width < least || next.width > widest {
				break
			}
			if next = t.descend(next); next.error >= best.error {
				break
			}
			best, moved = next, true
		}
		if moved {
			break
		}
	}
	return best
}

// narrowWorth is how much more error a narrower kernel may make on the rows of
// the warm-up: the more rows there are, the narrower is the best one, and there
// will be more.
const narrowWorth = 1.07

// narrow returns the narrowest choice that is nearly as good as the best.
func (t *tuner) narrow(best tuning) tuning {
	choice := best
	for choice.width > narrowest {
		next := t.descend(tuning{width: choice.width - 1, lambda: choice.lambda})
		if next.error > narrowWorth*best.error {
			break
		}
		choice = next
	}
	return choice
}

// descend finds the best penalty for the width of a choice.
func (t *tuner) descend(at tuning) tuning {
	at.error = t.error(at)
	for _, turn := range []int{-1, 1} {
		moved := false
		for {
			next := at
			next.lambda += turn
			if next.lambda < weakest || next.lambda > strongest {
				break
			}
			gain := 1.0
			if turn < 0 {
				gain = worth
			}
			if next.error = t.error(next); next.error >= gain*at.error {
				break
			}
			at, moved = next, true
		}
		if moved {
			break
		}
	}
	return at
}

// worst bounds a row's squared error, in units of the labels' variance.
const worst = 100

// error returns the mean squared leave-one-out error of a choice.
func (t *tuner) error(c tuning) float64 {
	key := [2]int{c.width, c.lambda}
	if e, ok := t.seen[key]; ok {
		return e
	}
	n := t.rows()
	for i := range n {
		row := t.factor[i*n : i*n+i+1]
		t.values(row[:i], i, c.width)
		for j := range row {
			row[j]++ // for the intercept
		}
		noise := float64(penalty(c.lambda) * float64(n))
		if t.weights != nil {
			noise /= t.weights[i]
		}
		row[i] = 2 + noise
	}
	e := math.Inf(1)
	if vec.Cholesky(t.factor, n) {
		vec.InvertCholesky(t.inverse, t.factor, n)
		e = t.leaveOneOut()
	}
	t.seen[key] = e
	return e
}

// values sets dst to the kernel's values at row i and the rows before it.
func (t *tuner) values(dst []float64, i, width int) {
	n := t.rows()
	radial, ok := t.kernel.(features.Radial)
	if t.fixed.Blocks > 0 || !ok {
		t.makeMatrix(width)
		copy(dst, t.matrix[i*n:])
		return
	}
	squared := t.squared * math.Ldexp(1, 2*width)
	radial.EvalSquared(dst, t.squares[i*n:i*n+i], squared)
	if t.second != nil {
		other := t.v[:i]
		radial.EvalSquared(other, t.second[i*n:i*n+i], squared)
		for j, v := range other {
			dst[j] = (dst[j] + v) / 2
		}
	}
}

// makeMatrix makes the matrix for a width, if it is not that already.
func (t *tuner) makeMatrix(width int) {
	if t.at == width {
		return
	}
	n, d := t.rows(), t.dim
	t.at = width
	if t.matrix == nil {
		t.matrix = make([]float64, n*n)
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
	}
}

func (t *tuner) leaveOneOut() float64 {
	n, k := t.rows(), t.targets
	diagonal := make([]float64, n)
	for i := range n {
		row := t.inverse[i*n+i : (i+1)*n]
		diagonal[i] = vec.Dot(row, row)
	}
	sum := 0.0
	for c := range k {
		for i := range n {
			t.v[i] = t.y[i*k+c]
		}
		for i := range n {
			row := t.factor[i*n : i*n+i+1]
			t.v[i] = (t.v[i] - vec.Dot(row[:i], t.v)) / row[i]
		}
		for i := range n {
			r := vec.Dot(t.inverse[i*n+i:(i+1)*n], t.v[i:]) / diagonal[i]
			r = min(worst, float64(r*r))
			if t.weights != nil {
				r = float64(r * t.weights[i])
			}
			sum += r
		}
	}
	return sum / float64(n)
}

// penalty returns 10 to the power of exponent, which is -6 to 0.
func penalty(exponent int) float64 {
	return [...]float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1}[exponent-weakest]
}
