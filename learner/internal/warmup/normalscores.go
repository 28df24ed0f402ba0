package warmup

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// scoredValues is the number of distinct values above which a column of numbers may become
	// normal scores. It is also the number of quantiles of these scores. Chosen by trial, see
	// docs/constants.md.
	scoredValues = 33

	// scoringRows is, from the version Sixth on, the number of the last rows on which normal scores
	// are compared, and the number of rows before them from which the column weights are computed.
	// Chosen by trial.
	scoringRows = 256

	// scoresGain is the largest leave-one-out error with normal scores, relative to that
	// without, at which they are chosen. Both are of the same rows, so that little noise is
	// in their ratio. Chosen by trial, see docs/columns.md.
	scoresGain = 0.985
)

// scores returns the types of the columns and their encoding, which is plan for those of a. Columns
// of numbers with more than scoredValues values become normal scores if this lowers the leave-one-out
// error of the last rows x enough, see scoresGain. Either all of them do, or none: the differences
// due to single columns are within the noise.
func (a *Request) scores(plan *encode.Encoding, x []float64, labels []target.Label, dim int, f Fit) ([]encode.Type, *encode.Encoding) {
	n := len(labels)
	if !a.Scores || a.Scaled || n < minTuningRows || a.Task == target.Novelty || HasScale(a.Kernel) {
		return a.Columns, plan
	}
	switch a.Kernel.(type) {
	case kernel.Auto, kernel.Mapped, kernel.Bounded: // of inputs in a range, or not chosen yet
		return a.Columns, plan
	}
	scored := a.scored(x, dim)
	if scored == nil {
		return a.Columns, plan
	}
	rows, first := tuningRows, 0
	if a.Version >= Sixth {
		rows = scoringRows
	}
	from := max(n/2, n-rows)
	if a.Version >= Sixth {
		first = max(0, from-rows)
	}
	s := a.sampled(plan, x, labels, dim, f)
	weights := floored(root(newColumnWeights(s.slice(first, from), weightings[0])))
	best := newTuner(s.slice(from, n), weights, a.Kernel).searched(safeTuning)
	other := *a
	other.Columns = scored
	otherPlan := other.plan(x, labels, dim)
	s = other.sampled(otherPlan, x, labels, dim, f)
	t := newTuner(s.slice(from, n), weights, a.Kernel)
	defer t.release()
	if e := t.error(best); !(e < scoresGain*best.error) {
		return a.Columns, plan
	}
	return scored, otherPlan
}

// scored returns the types of the columns with those of normal scores, nil if there are
// none.
func (a *Request) scored(x []float64, dim int) (types []encode.Type) {
	for j := range dim {
		if a.Columns != nil && a.Columns[j] != encode.Numeric && a.Columns[j] != encode.Window || !manyValues(x[j:], dim) {
			continue
		}
		if types == nil {
			if types = slices.Clone(a.Columns); types == nil {
				types = make([]encode.Type, dim)
			}
		}
		types[j] = encode.Normal
	}
	return types
}

// manyValues reports whether the column x[0], x[stride], and so on has more than
// scoredValues values.
func manyValues(x []float64, stride int) bool {
	seen := make(map[float64]struct{}, scoredValues+1)
	for i := 0; i < len(x) && len(seen) <= scoredValues; i += stride {
		if !math.IsNaN(x[i]) {
			seen[x[i]] = struct{}{}
		}
	}
	return len(seen) > scoredValues
}

// sampled returns the rows as a model with this plan of an encoding sees them.
func (a *Request) sampled(plan *encode.Encoding, x []float64, labels []target.Label, dim int, f Fit) sample {
	if plan != nil {
		x, dim = plan.Start().Rows(x, labels, a.Weights), plan.Width()
	}
	f.Scaler = a.scaler(x, dim)
	s := sample{version: a.Version, dim: dim, x: f.scaled(x, dim)}
	s.label(&f, labels, a.Task)
	return s
}
