package offline

import (
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
)

// addCost adds the cost of the prediction p for a row of a class to m, if the rule has costs of
// classes.
func addCost(m *ranking.Meter, rule learner.Decision, p []float64, class int, weight float64) {
	if rule.Named() && len(p) > 0 {
		m.AddCost(rule.Cost(class, rule.Class(p)), rule.Cost(class, learner.Best(p)), weight)
	}
}
