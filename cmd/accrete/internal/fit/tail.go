package fit

import (
	"slices"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/learner"
)

const (
	// tailRows is the number of labels that are looked at, and leastTailRows the least number.
	tailRows, leastTailRows = 20_000, 200

	// tailVariance is the share of the variance from which on the largest hundredth of the labels is
	// a long tail. Of an exponential distribution it has .2, and of a lognormal one of σ = 1 .5.
	tailVariance = 0.6
)

// tail finds out whether few labels are far larger than all others.
type tail struct{ labels []float64 }

func (t *tail) add(y learner.Label) {
	if y.Task == learner.Regression && y.Targets() == 1 && len(t.labels) < tailRows {
		t.labels = append(t.labels, y.Value)
	}
}

// share returns the share of the variance of the labels that the largest hundredth of them has, and 0
// unless all labels are positive and there are enough of them.
func (t *tail) share() float64 {
	n := len(t.labels)
	if n < leastTailRows || slices.Min(t.labels) <= 0 {
		return 0
	}
	slices.Sort(t.labels)
	mean := 0.0
	for _, y := range t.labels {
		mean += y / float64(n)
	}
	all, top := 0.0, 0.0
	for i, y := range t.labels {
		d := (y/mean - 1) * (y/mean - 1) // does not overflow
		if all += d; i >= n-n/100 {
			top += d
		}
	}
	if !(all > 0) {
		return 0
	}
	return top / all
}

// warn logs a long tail of labels that are learned as they are.
func (t *tail) warn(e *env.Env, loss string) {
	share := t.share()
	if share < tailVariance || loss != "auto" && loss != "square" {
		return
	}
	e.Log.Warn().Int("percent_of_variance", int(100*share)).Msg("the largest 1 % of the labels decide the error, and labels beyond ten standard deviations of the others count less: a model of the logarithm of the labels predicts small and large ones equally well")
}
