package offline

import (
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
)

// addCost adds to m what the prediction p of a row of a class cost, if there are costs by
// class.
func addCost(m *ranking.Meter, rule learner.Decision, p []float64, class int, weight float64) {
	if rule.Named() && len(p) > 0 {
		m.AddCost(rule.Cost(class, rule.Class(p)), rule.Cost(class, learner.Best(p)), weight)
	}
}
