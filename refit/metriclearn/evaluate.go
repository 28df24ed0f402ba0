package metriclearn

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/refit/optim"
)

// LearnTuned chooses the penalties of c that are 0, and learns metrics with them to a relative gap.
// It also returns c with these penalties. A step takes all blocks: for a few thousand triplets and
// matrices as small as theirs, this takes a third of the time of any smaller number of blocks
// (docs/dspdc.md).
func LearnTuned(ctx context.Context, tasks []Task, dim int, gap float64, c Config) (*Metrics, *optim.Solution, Config, error) {
	solver := optim.Config{Relative: gap, Dual: math.MaxInt}
	c, err := choosePenalties(ctx, tasks, dim, c, solver)
	if err != nil {
		return nil, nil, c, err
	}
	metrics, s, err := Learn(ctx, tasks, dim, c, solver)
	return metrics, s, c, err
}

// Errors are the shares of rows that their three nearest neighbours classify wrongly,
// under different metrics.
type Errors struct {
	Euclidean float64 `json:"euclidean"`
	One       float64 `json:"one"`  // one metric for all tasks
	Many      float64 `json:"many"` // a shared metric, and one for each task
	Rows      int     `json:"rows"` // number of rows checked
}

// Compare returns the errors on the rows to check. They are classified by the rows that the metrics
// were learned from. Tasks without such rows are left out.
func Compare(learned, check []Task, dim int, one, many *Metrics) Errors {
	var e Errors
	for j, t := range learned {
		if len(t.Classes) > 0 {
			e.Rows += len(check[j].Classes)
		}
	}
	wrong := func(metric func(task int) []float64) float64 {
		n := 0
		for j, t := range learned {
			if len(t.Classes) == 0 {
				continue
			}
			for i, class := range Classify(t, dim, 3, metric(j), check[j].Points) {
				if class != check[j].Classes[i] {
					n++
				}
			}
		}
		return float64(n) / math.Max(1, float64(e.Rows))
	}
	e.Euclidean, e.One, e.Many = wrong(func(int) []float64 { return nil }), wrong(one.Task), wrong(many.Task)
	return e
}
