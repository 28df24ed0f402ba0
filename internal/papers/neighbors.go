package papers

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"github.com/accrete-ml/accrete/refit/metriclearn"
)

// NeighborReport contains the errors of nearest neighbours over several splits
// of tasks into rows to learn from and rows to check.
type NeighborReport struct {
	Tasks     string      `json:"tasks"`
	Splits    int         `json:"splits"`
	Euclidean Estimate    `json:"euclidean"`
	One       Estimate    `json:"one"`
	Many      Estimate    `json:"many"`
	Gain      Estimate    `json:"gain"` // One - Many per split
	Penalties []Penalties `json:"weights"`
	Seconds   float64     `json:"seconds"`
}

// Penalties are the penalties chosen for a split.
type Penalties struct {
	One    float64 `json:"one"` // of the single metric
	Shared float64 `json:"shared"`
	Own    float64 `json:"own"`
}

// Estimate is a mean and its standard error.
type Estimate struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
}

func newEstimate(x []float64) Estimate {
	mean, deviation := stat.MeanStdDev(x, nil)
	return Estimate{mean, stat.StdErr(deviation, float64(len(x)))}
}

func (e Estimate) String() string { return fmt.Sprintf("%.4f ± %.4f", e.Mean, e.StandardError) }

// taskSet is a set of related tasks that can be split in several ways.
type taskSet struct {
	name  string
	dim   int
	split func(seed uint64) (learn, check []metriclearn.Task)
}

// metricGap is the relative gap to which metrics are learned.
const metricGap = 1e-3

// neighbors compares metrics by the errors of nearest neighbours. It calls
// progress before each split.
func (s *taskSet) neighbors(ctx context.Context, splits int, clock func() float64, progress func(split int)) (NeighborReport, error) {
	r := NeighborReport{Tasks: s.name, Splits: splits}
	begin := clock()
	var euclidean, one, many, gain []float64
	for split := range splits {
		progress(split)
		learn, check := s.split(uint64(split))
		single, _, alone, err := metriclearn.LearnTuned(ctx, learn, s.dim, metricGap, metriclearn.Config{Single: true})
		if err != nil {
			return r, err
		}
		all, _, c, err := metriclearn.LearnTuned(ctx, learn, s.dim, metricGap, metriclearn.Config{})
		if err != nil {
			return r, err
		}
		e := metriclearn.Compare(learn, check, s.dim, single, all)
		euclidean, one, many, gain = append(euclidean, e.Euclidean), append(one, e.One), append(many, e.Many), append(gain, e.One-e.Many)
		r.Penalties = append(r.Penalties, Penalties{alone.Shared, c.Shared, c.Own})
	}
	r.Euclidean, r.One, r.Many, r.Gain = newEstimate(euclidean), newEstimate(one), newEstimate(many), newEstimate(gain)
	r.Seconds = clock() - begin
	return r, nil
}
