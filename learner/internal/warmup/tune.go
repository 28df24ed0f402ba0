package warmup

import (
	"math"

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
	squares []float64 // distances, a lower triangle
	median  float64   // of them
	second  []float64 // distances under another metric: the kernel is the mean of its values at both; nil for none
	weights []float64 // of the rows, above 0 and 1 in the mean; nil for 1 each

	few      FixedFeatures
	x        []float32 // weighted by the metric, for few
	products []float64 // of their features, for a kernel of width at
	at       int

	seen    map[[2]int]float64
	factor  []float64
	inverse []float64
	v       []float64
}

func newTuner(s sample, metric []float64) *tuner {
	n := s.rows()
	t := &tuner{sample: s, squares: s.distances(metric), seen: map[[2]int]float64{}}
	t.median = median(t.squares, n)
	t.factor, t.inverse, t.v = make([]float64, n*n), make([]float64, n*n), make([]float64, n)
	return t
}

// on has t compare models of these features.
func (t *tuner) on(f FixedFeatures, metric []float64) *tuner {
	t.few, t.x, t.products, t.at = f, make([]float32, len(t.sample.x)), make([]float64, t.rows()*t.rows()), widest+1
	for i, v := range t.sample.x {
		t.x[i] = float32(v * math.Sqrt(metric[i%t.dim]))
	}
	return t
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
	scale := -1 / (2 * t.median * math.Ldexp(1, 2*c.width))
	if t.few.Blocks > 0 && t.at != c.width {
		t.few.products(t.products, t.x, math.Ldexp(math.Sqrt(t.median), c.width))
		t.at = c.width
	}
	for i := range n {
		row := t.factor[i*n : i*n+i+1]
		if t.few.Blocks > 0 {
			copy(row, t.products[i*n:])
		} else {
			for j, d := range t.squares[i*n : i*n+i] {
				row[j] = d * scale
			}
			vec.Exps(row[:i], row[:i])
			if t.second != nil {
				for j, d := range t.second[i*n : i*n+i] {
					row[j] = (row[j] + vec.Exp(d*scale)) / 2
				}
			}
		}
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
