package warmup

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
)

// searched is search of a tuner that is not to be used any more.
func (t *tuner) searched(start tuning) tuning {
	defer t.release()
	return t.search(start)
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

// downhill returns the best choice that it reaches from a start, width by width: towards narrower
// kernels, down to the width least, or otherwise towards wider ones.
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

// maxLost is likewise for all columns, from the version Twentieth on: where little can be predicted, an
// error within narrowMargin can be that of a kernel which predicts nothing. Chosen by trial, see
// docs/constants.md.
const maxLost = 0.5

// leastExplained is the least part of the variance that the best choice explains if it tells anything.
// Chosen by trial, see docs/constants.md.
const leastExplained = 0.01

// narrow returns the narrowest choice that is nearly as good as the best.
func (t *tuner) narrow(best tuning) tuning {
	choice, margin := best, narrowMargin
	if t.version >= Sixth && best.lambda == weakest {
		margin = weakMargin
	}
	most := margin * best.error
	if t.version >= Twentieth {
		explained := max(0, t.variance()-best.error)
		if explained < leastExplained*t.variance() {
			return t.untold(best)
		}
		most = min(most, best.error+float64(maxLost*explained))
	}
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

// untold returns the choice where the best one explains nothing. That does not mean that there are only
// narrow functions or noise: a class of which the rows have a few examples looks alike. The kernel is
// then no narrower than is typical. A strong penalty would keep classes from being learned from later
// rows, and they, unlike numbers, have hardly larger losses with a weaker one if all is noise.
func (t *tuner) untold(best tuning) tuning {
	best = t.descend(tuning{width: max(best.width, safeTuning.width), lambda: best.lambda})
	if t.classes {
		best.lambda = min(best.lambda, safeTuning.lambda)
	}
	return best
}

// penaltyGain is the largest error, relative to that of the stronger penalty, at which
// a weaker one is chosen: if nothing can be predicted all choices are about equal, and
// weak ones fit the noise. Chosen by trial, see docs/constants.md.
const penaltyGain = 0.99

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
