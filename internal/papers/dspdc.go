package papers

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/refit/metriclearn"
)

// Options configure the experiments.
type Options struct {
	Seconds         float64        // clock time for each method and problem
	Full            bool           // including runs that take a gigabyte or minutes
	Clock           func() float64 // in seconds
	Progress        func(text string)
	Covtype, Letter *Set // nil if not available
}

// mostPasses limits the passes of a method. In practice the time limit always takes effect first.
const mostPasses = 1e6

// DSPDC runs the experiments of Yu, Lin and Yang (2015).
func DSPDC(ctx context.Context, o Options) (*Report, error) {
	var r Report
	run := func(c *contest) error {
		curves, err := c.run(ctx, o.Seconds, mostPasses, o.Clock, func(method string) {
			o.Progress(fmt.Sprintf("%s: %s: %s", c.figure, c.title, method))
		})
		if err == nil {
			r.Contests = append(r.Contests, newContestReport(c, curves))
		}
		return err
	}
	for c := range contests(o.Full) {
		if err := run(c); err != nil {
			return nil, err
		}
	}
	if o.Covtype != nil {
		if err := run(o.Covtype.projected()); err != nil {
			return nil, err
		}
	}
	const dim = 16
	sets := []taskSet{{"related tasks", dim, func(seed uint64) (learn, check []metriclearn.Task) {
		return relatedTasks(1+seed, 10, 60, 200, dim)
	}}}
	if o.Letter != nil {
		sets = append(sets, taskSet{o.Letter.Name, o.Letter.Dim, o.Letter.tasks})
	}
	splits := 3 // random splits for the comparison of metrics
	if o.Full {
		splits = 5
	}
	for i, s := range sets {
		if i > 0 { // the generated tasks are already among the contests
			learn, _ := s.split(0)
			c, err := metricContest(s.name, learn, s.dim, 20, 4)
			if err != nil {
				return nil, err
			}
			if err := run(c); err != nil {
				return nil, err
			}
		}
		n, err := s.neighbors(ctx, splits, o.Clock, func(split int) {
			o.Progress(fmt.Sprintf("nearest neighbours: %s, split %d of %d", s.name, split+1, splits))
		})
		if err != nil {
			return nil, err
		}
		r.Neighbors = append(r.Neighbors, n)
	}
	return &r, nil
}
