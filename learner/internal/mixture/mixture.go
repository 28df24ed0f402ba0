package mixture

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Shares turns the decayed losses of candidates into their shares in a mixture,
// which are proportional to the exponentials of -temperature × loss (exponential
// weights: Vovk 1990).
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

// leastVariance bounds the variance that temper divides by.
const leastVariance = 1e-3

// Temperature returns by how much a difference of decayed losses counts in a mixture:
// as likelihoods do, which for numbers have the variance of the least loss. memory
// is the factor of the losses so far for each row.
func Temperature(task target.Task, least, memory float64) float64 {
	if task == target.Regression {
		return 0.5 / (1 - memory) / max(least, leastVariance)
	}
	return 1
}
