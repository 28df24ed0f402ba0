package warmup

import (
	"math"
	"slices"

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

// penaltyGain is the largest error, relative to that of the stronger penalty, at which
// a weaker one is chosen: if nothing can be predicted all choices are about equal, and
// weak ones fit the noise. Chosen by trial, see docs/constants.md.
const penaltyGain = 0.99

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

// searched is search of a tuner that is not to be used any more.
func (t *tuner) searched(start tuning) tuning {
	defer t.release()
	return t.search(start)
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

// fineGain is the largest error, relative to the best otherwise, at which a kernel
// below narrowest is chosen. Chosen by trial, see docs/constants.md.
const fineGain = 0.5

// search returns the best choice that it finds by descending from a start: in the penalty for each
// width, and in the width. If the errors of wide kernels are all about equal, the descent goes
// nowhere; therefore it also starts from the finest width that can be chosen.
func (t *tuner) search(start tuning) tuning {
	best := t.downhill(start, narrowest)
	least := t.finestAbove(fineGain * best.error)
	if t.version >= Seventh && least == narrowest {
		return best
	}
	if t.version >= Sixth {
		fine := t.finestAt(least, best.lambda)
		if !(fine.error < best.error) {
			return best
		}
		least = fine.width
	}
	if fine := t.downhill(tuning{width: least, lambda: start.lambda}, least); fine.error < fineGain*best.error {
		return fine
	}
	return best
}

// finestAt returns the best width from least to narrowest at a penalty.
func (t *tuner) finestAt(least, lambda int) tuning {
	best := tuning{error: math.Inf(1)}
	for width := least; width <= narrowest; width++ {
		at := tuning{width: width, lambda: lambda}
		if at.error = t.error(at); at.error < best.error {
			best = at
		}
	}
	return best
}

// isolated is a value of the kernel between a row and its nearest neighbour. Below it, the
// prediction for the row is about the mean, whatever the penalty is.
const isolated = 1e-3

// finestAbove returns the finest width whose error can be below a bound. At finer widths, the rows
// that are isolated suffice to make the error larger. It returns finest, without a search, in
// versions before Third, for kernels that are not Radial, for fixed features, and with a second
// kernel or weights of rows.
func (t *tuner) finestAbove(error float64) int {
	radial, ok := t.kernel.(kernel.Radial)
	if !ok || t.version < Third || t.fixed.Blocks > 0 || t.second != nil || t.weights != nil {
		return finest
	}
	nearest, values := t.nearest(), make([]float64, t.rows())
	for width := finest; width < narrowest; width++ {
		radial.EvalSquared(values, nearest, t.squared*math.Ldexp(1, 2*width))
		sum := 0.0
		for i, v := range values {
			if v < isolated {
				for _, y := range t.y[i*t.targets : (i+1)*t.targets] {
					sum += min(maxSquaredError, float64(y*y))
				}
			}
		}
		if sum/float64(t.rows()) < error {
			return width
		}
	}
	return narrowest
}

// nearest returns the squared distance of each row to the nearest other one.
func (t *tuner) nearest() []float64 {
	n := t.rows()
	nearest := slices.Repeat([]float64{math.MaxFloat64}, n)
	for i := range n {
		for j, d := range t.squares[i*n : i*n+i] {
			nearest[i], nearest[j] = min(nearest[i], d), min(nearest[j], d)
		}
	}
	return nearest
}

func (t *tuner) downhill(start tuning, least int) tuning {
	best := t.descend(start)
	for _, turn := range []int{-1, 1} {
		moved := false
		for {
			next := tuning{width: best.width + turn, lambda: best.lambda}
			if next.width < least || next.width > widest || t.hopeless(next, best) {
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

// hopelessMargin is the largest error of the next width, at the penalty of the best choice so far
// and relative to the error of that choice, at which other penalties are tried for the width, from
// the version Seventh on. Chosen by trial, see docs/constants.md.
const hopelessMargin = 1.05

// hopeless reports whether a choice is so much worse than the best that no other penalty is tried
// for its width.
func (t *tuner) hopeless(c, best tuning) bool {
	return t.version >= Seventh && t.error(c) > hopelessMargin*best.error
}

// narrowMargin is the largest error, relative to the best, at which a narrower kernel
// is chosen: the more rows there are, the narrower is the best one, and there will be
// more than those of the warm-up. Chosen by trial, see docs/constants.md.
const narrowMargin = 1.07

// weakMargin is narrowMargin where the best choice has the weakest of the penalties. Such a
// kernel is a wide one whose random features have to cancel each other, to many digits, which
// steps on a window never reach; and its predictions far from the rows are wild. Versions before
// Sixth have narrowMargin. Chosen by trial: docs/algorithms.md has the errors.
const weakMargin = 1.15

// maxUnexplained is the largest part that a narrower kernel may lose of the variance that the best
// choice explains, where distances are mostly those of indicators. Numbers come closer to each
// other with more rows, so that a narrower kernel learns more from them. Indicators do not, and
// such a kernel learns nothing but equal rows. The Version First has no such bound. Chosen by
// trial, see docs/constants.md.
const maxUnexplained = 0.05

// narrow returns the narrowest choice that is nearly as good as the best.
func (t *tuner) narrow(best tuning) tuning {
	choice, margin := best, narrowMargin
	if t.version >= Sixth && best.lambda == weakest {
		margin = weakMargin
	}
	most := margin * best.error
	if t.version > First && t.indicated() {
		most = min(most, best.error+float64(maxUnexplained*(t.variance()-best.error)))
	}
	for choice.width > narrowest {
		next := t.descend(tuning{width: choice.width - 1, lambda: choice.lambda})
		if next.error > most {
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
				gain = penaltyGain
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

// indicated reports whether columns of two values make up most of the squared distances of
// the rows, under the column weights.
func (t *tuner) indicated() bool {
	n, d := t.rows(), t.dim
	indicators, all := 0.0, 0.0
	for j := range d {
		sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
		for i := j; i < n*d; i += d {
			sum += t.z[i]
			least, most = min(least, t.z[i]), max(most, t.z[i])
		}
		mean, squares, two := sum/float64(n), 0.0, true
		for i := j; i < n*d; i += d {
			v := t.z[i]
			squares += float64((v - mean) * (v - mean))
			two = two && (v == least || v == most)
		}
		all += squares
		if two {
			indicators += squares
		}
	}
	return indicators > all/2
}

// variance returns the mean square of the targets of a row, which is the error of the mean.
func (t *tuner) variance() float64 {
	sum := 0.0
	for _, v := range t.y {
		sum += float64(v * v)
	}
	return sum / float64(t.rows())
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
