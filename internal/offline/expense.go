package offline

import (
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
)

// expense is what the predictions of classes have cost, by costs that were given.
type expense struct {
	given          bool
	weight         float64
	paid, probable float64 // by the predicted class, and if it had been the most probable one
}

func (e *expense) add(rule learner.Decision, p []float64, class int, weight float64) {
	if !rule.Named() || len(p) == 0 {
		return
	}
	e.given = true
	e.weight += weight
	e.paid += weight * rule.Cost(class, rule.Class(p))
	e.probable += weight * rule.Cost(class, learner.Best(p))
}

// tell adds the means to f.
func (e *expense) tell(f *ranking.Figures) *ranking.Figures {
	if f != nil && e.given && e.weight > 0 {
		paid, probable := e.paid/e.weight, e.probable/e.weight
		f.MeanCost, f.ProbableCost = &paid, &probable
	}
	return f
}
