package newton

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// More rows in the window average out more of the noise of labels, in about the same time: steps
// visit the same number of rows for each example, so that each block has half as many steps in a
// window of twice the length. A model therefore has a long window if the warm-up finds noise. More
// rows also take more memory, so rows must have few inputs. And a long window follows a change more
// slowly, so the model must be in a mixture, whose kernel machines follow changes.

const (
	// longRows is the number of rows of a long window, and longInputs the largest number of
	// inputs of its rows. Chosen by trial: docs/algorithms.md.
	longRows, longInputs = 16384, 256

	// longPenalty is the penalty of the warm-up from which on windows are long. The warm-up
	// chooses among powers of ten. Chosen by trial: docs/algorithms.md.
	longPenalty = 3e-4
)

// mayBeLong reports whether models with these options and an effort have a long window, if their
// rows and their labels suit it.
func mayBeLong(o *engine.Options, effort int) bool {
	return o.Long && o.Lean && effort*effortRows >= longRows
}

// isLong reports whether the window of a model with an effort is long.
func isLong(p *engine.Problem, effort int) bool {
	return mayBeLong(&p.Options, effort) && p.Dim <= longInputs && p.Fit.Lambda >= longPenalty
}

// long returns by with a long window, of which its members learn from all rows.
func (by plan) long() plan {
	of := by.members
	by.length, by.members = longRows, make([]member, len(of))
	for m, who := range of {
		if who.whole() {
			who.rows = longRows
		}
		by.members[m] = who
	}
	return by
}

// mostEffort returns the largest effort that models with these options may have.
func mostEffort(o *engine.Options) int {
	if o.Effort == engine.AutoEffort {
		return rowVisitsPerExample
	}
	return o.Effort
}

// mostRows returns the most rows that the window of a model with these options may have.
func mostRows(o *engine.Options) int {
	if mayBeLong(o, mostEffort(o)) {
		return longRows
	}
	return windowRows
}

// packed returns how many float32 numbers the window of a model with these options has beside the
// State, if the model sees at most that many inputs.
func packed(o engine.Options, inputs int) int {
	return max(numbers(windowRows, inputs, o.MaxFeatures), mostRows(&o)*min(inputs, longInputs))
}

// numbers returns how many numbers a window of that many rows has: a copy of the inputs, and their
// phases in the cache.
func numbers(rows, inputs, most int) int {
	return rows*inputs + features.CachedNumbers(rows, most, inputs)
}

// TreeBytes returns the memory of a tree beside the State: of at most 2 × 1280/3 nodes of 16 bytes,
// rounded up, and of the number of a leaf, in 2 bytes, for each row of the window.
func TreeBytes(o engine.Options) int { return 16_000 + 2*mostRows(&o) }
