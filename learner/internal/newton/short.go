package newton

import "github.com/accrete-ml/accrete/learner/internal/engine"

const (
	// shortRows is the window of the engines of NewShort, and shortVisits the number of
	// its rows that steps visit for each example: four steps a mini-batch, so that one in
	// each of 16 blocks takes 128 rows.
	shortRows, shortVisits = 512, 64

	// resettingRows and resettingVisits are those of NewResetting: after a reset, while the
	// window has few rows, there are more steps than in an engine of NewShort.
	resettingRows, resettingVisits = 4096, 32

	// ShortFactorBytes and ResettingFactorBytes are the memory of the factors of each random
	// feature, for each penalty.
	ShortFactorBytes, ResettingFactorBytes = 2 * 4 * blockSize * 8, 4 * blockSize * 8
)

// MachineNumbers returns how many numbers the windows of both engines have beside the State, as
// packed does for that of a model, if neither has more random features than most.
func MachineNumbers(inputs, most int) int {
	return numbers(shortRows, inputs, most) + numbers(resettingRows, inputs, most)
}

// shortEnsemble and resettingEnsemble have no averages: they would know rows that are to be
// forgotten.
var (
	shortEnsemble     = []member{{0.3, shortRows, 1}, {0.03, shortRows, 1}}
	resettingEnsemble = []member{{0.1, resettingRows, 1}}
)

// Machine is an engine beside another one, which can cost less while it is of no use.
type Machine interface {
	engine.Engine

	// Thin divides the number of steps by that, from the next Learn on. There are fewer only
	// once the window has all its rows. It is no part of the State.
	Thin(by int)

	// ServedIntercept returns the intercept of score c with which it predicts.
	ServedIntercept(c int) float64

	// AddServed adds the coefficients of random features that it predicts with, rows × scores,
	// each times the share of its score. It returns sum, which has more rows if it lacks some.
	AddServed(sum, shares []float64) []float64
}

// NewShort returns an engine for streams that change: it learns from fewer rows, and steps
// through its blocks more often.
func NewShort(p engine.Problem) Machine {
	return newPlanned(p, plan{shortRows, shortVisits, shortEnsemble, 0, 0, nil, true})
}

// NewResetting returns an engine whose owner starts it again when a stream has changed. It
// has more rows than one of NewShort, and costs less.
func NewResetting(p engine.Problem) Machine {
	return newPlanned(p, plan{resettingRows, resettingVisits, resettingEnsemble, 0, 0, nil, true})
}

// Thin implements Machine.
func (w *newton) Thin(by int) { w.thin = by }

// visitsNow returns the number of rows of the window that steps visit for each example.
func (w *newton) visitsNow() int64 {
	if w.thin > 1 && w.window.rows == w.length {
		return w.visits / int64(w.thin)
	}
	visits := w.visits
	if w.young() {
		visits *= youngVisits
	}
	if w.isPlain() {
		visits /= plainThinning
	}
	return max(1, visits)
}
