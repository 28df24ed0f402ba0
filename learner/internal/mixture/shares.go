// Package mixture mixes the predictions of an engine and of simple members, by weights that
// depend exponentially on their losses.
package mixture

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Shares replaces the decayed losses of candidates by their shares in a mixture, which
// are proportional to exp(-temperature × loss) (exponential weights: Vovk 1990).
func Shares(losses []float64, temperature float64) {
	least, total := slices.Min(losses), 0.0
	for i, l := range losses {
		losses[i] = vec.Exp(-temperature * (l - least))
		total += losses[i]
	}
	for i := range losses {
		losses[i] /= total
	}
}

// leastVariance bounds the variance that Temperature divides by: below, a target is
// predicted so well that its candidates need not be distinguished.
const leastVariance = 1e-3

// Temperature returns the temperature of a mixture at which the shares are likelihoods,
// which for numbers have the variance of the least loss. decay is the factor of the
// losses so far for each row.
func Temperature(task target.Task, least, decay float64) float64 {
	if task == target.Regression {
		return 0.5 / (1 - decay) / max(least, leastVariance)
	}
	return 1
}
