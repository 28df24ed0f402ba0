package newton

import "github.com/accrete-ml/accrete/learner/internal/engine"

const (
	// shortRows is the number of rows in the window of an engine of NewShort, and shortVisits
	// the number of them that steps visit for each example. That is four steps a mini-batch: each
	// of 16 blocks has a step every 128 rows.
	shortRows, shortVisits = 512, 64

	// resettingRows and resettingVisits are the same for an engine of NewResetting. After a
	// reset, while the window has few rows, it takes more steps than an engine of NewShort.
	resettingRows, resettingVisits = 4096, 32

	// ShortFactorBytes and ResettingFactorBytes are the memory of the factors of each random
	// feature, for each penalty.
	ShortFactorBytes, ResettingFactorBytes = 2 * 4 * blockSize * 8, 4 * blockSize * 8
)

// MachineNumbers returns how many float32 numbers the windows of both engines have beside the
// State, like packed for that of a model, if neither engine has more than most random features.
func MachineNumbers(inputs, most int) int {
	return numbers(shortRows, inputs, most) + numbers(resettingRows, inputs, most)
}

// shortEnsemble and resettingEnsemble have no averages, which would remember rows that are to be
// forgotten.
var (
	shortEnsemble     = []member{{0.3, shortRows, 1}, {0.03, shortRows, 1}}
	resettingEnsemble = []member{{0.1, resettingRows, 1}}
)

// Machine is an engine that runs beside another one, and that can cost less while it is of no use.
type Machine interface {
	engine.Engine

	// Thin divides the number of steps by the given number, from the next Learn on, whenever the
	// window is full. The number is no part of the State.
	Thin(by int)

	// ServedIntercept returns the intercept of score c that predictions are made with.
	ServedIntercept(c int) float64

	// AddServed adds to sum, rows × scores, the coefficients of random features that predictions
	// are made with, each times the share of its score. It returns sum, with the rows that it
	// lacked.
	AddServed(sum, shares []float64) []float64
}

// NewShort returns an engine for streams that change: it learns from fewer rows, and steps
// through its blocks more often.
func NewShort(p engine.Problem) Machine {
	return newPlanned(p, plan{length: shortRows, visits: shortVisits, members: shortEnsemble, alone: true})
}

// NewResetting returns an engine whose owner starts it again when a stream has changed. It
// has more rows than one of NewShort, and costs less.
func NewResetting(p engine.Problem) Machine {
	return newPlanned(p, plan{length: resettingRows, visits: resettingVisits, members: resettingEnsemble, alone: true})
}

// Thin implements Machine.
func (w *newton) Thin(by int) { w.thin = by }

// visitsNow returns the number of rows of the window that steps visit for each example at present.
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
