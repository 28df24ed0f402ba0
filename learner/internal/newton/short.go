package newton

import "github.com/accrete-ml/accrete/learner/internal/engine"

const (
	// shortRows is the window of the engines of NewShort, and shortVisits the number of
	// its rows that steps visit for each example: four steps a mini-batch, so that one in
	// each of 16 blocks takes 128 rows.
	shortRows, shortVisits = 512, 64

	// ShortFactorBytes is the memory of the factors of each random feature of an engine of
	// NewShort, for two penalties.
	ShortFactorBytes = 2 * 4 * blockSize * 8
)

// shortEnsemble has no averages: they would know rows that a short window is to forget.
var shortEnsemble = []member{{0.3, shortRows, 1}, {0.03, shortRows, 1}}

// NewShort returns an engine for streams that change: it learns from fewer rows, and steps
// through its blocks more often.
func NewShort(p engine.Problem) engine.Engine {
	return newPlanned(p, plan{shortRows, shortVisits, shortEnsemble, 0})
}
