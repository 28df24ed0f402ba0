package dsg

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learner"
)

// Rows are labelled rows in memory.
type Rows struct {
	Name   string
	Dim    int
	X      []float64 // rows × Dim
	Labels []learner.Label
	Settings
}

// Settings are the settings of DSG, UDSG and CDSG. The zero value of each stands for its default.
type Settings struct {
	Minibatch int
	BlockSize int     // random features of a step
	Lambda    float64 // penalty; 0: the penalty of the experiment
}

// config returns the configuration of an algorithm.
func (s Settings) config(algorithm string, lambda float64) learner.Config {
	if s.Lambda > 0 {
		lambda = s.Lambda
	}
	return learner.Config{Algorithm: algorithm, Direction: "rate", Lambda: lambda, Minibatch: s.Minibatch, BlockSize: s.BlockSize, MaxFeatures: uncapped}
}

// GrowthReport compares algorithms by their loss over time and features, like figure 1 of Li and
// Póczos (2016).
type GrowthReport struct {
	Set        string        `json:"set"`
	Algorithms []GrowthCurve `json:"algorithms"`
}

// GrowthCurve is the progress of one algorithm.
type GrowthCurve struct {
	Algorithm string        `json:"algorithm"`
	Points    []GrowthPoint `json:"points"`
}

// GrowthPoint is the state after some rows.
type GrowthPoint struct {
	Rows     int64   `json:"rows"`
	Features int     `json:"features"`
	Seconds  float64 `json:"seconds"`       // of processor time, after the warm-up
	Loss     float64 `json:"loss"`          // mean over the predictions for the last rows, at most 1,000
	Training float64 `json:"training_loss"` // mean loss of the model on the first 2,000 rows of the set
	Error    float64 `json:"error"`         // progressive error over all rows
}

// growthAlgorithms are the algorithms that are compared.
var growthAlgorithms = []string{"dsg", "udsg", "cdsg"}

// trainingRows is the number of rows on which the training loss is measured.
const trainingRows = 2000

// uncapped is more features than a set can use.
const uncapped = 1 << 20

// growth runs the algorithms for a number of passes over the rows of a set, without a limit on
// their features.
func growth(ctx context.Context, s *Rows, passes int, clock func() float64, progress func(string)) (*GrowthReport, error) {
	r := &GrowthReport{Set: s.Name}
	for _, name := range growthAlgorithms {
		l, err := learner.New(s.config(name, 1e-6))
		if err != nil {
			return nil, err
		}
		c := GrowthCurve{Algorithm: name}
		from, next := 0.0, int64(1250) // the warm-up has ended by then
		for pass := range passes {
			for at := 0; at < len(s.Labels); at += 256 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				s.learn(l, at, min(at+256, len(s.Labels)))
				last := pass == passes-1 && at+256 >= len(s.Labels)
				if p := l.Progress(); p.Examples >= next || last {
					if len(c.Points) == 0 {
						from = clock()
					}
					next += next / 4
					at := clock()
					training, _, err := s.training(l, trainingRows)
					if err != nil {
						return nil, err
					}
					c.Points = append(c.Points, GrowthPoint{p.Examples, p.Features, at - from, p.Latest.Model.Loss, training, p.Whole.Model.Error})
					from += clock() - at
					progress(fmt.Sprintf("features of %s: %s, %d rows", s.Name, name, p.Examples))
				}
			}
		}
		r.Algorithms = append(r.Algorithms, c)
	}
	return r, nil
}
