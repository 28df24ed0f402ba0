package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/curves"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/learner"
)

// spread is what several orders of the training rows have: means and standard deviations.
type spread struct {
	Orders      int      `json:"orders"`
	Progressive moments  `json:"progressive"`
	Test        *moments `json:"test,omitempty"`
	Coverage    *moments `json:"coverage,omitempty"` // of the intervals of a regression of one target
	Width       *moments `json:"width,omitempty"`
}

type moments struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // of a sample
}

// interval is how often the intervals of one target contain the label.
type interval struct {
	Coverage float64 `json:"coverage"` // of the progressive predictions
	Width    float64 `json:"width"`    // mean, in the label's units
}

func newMoments(values []float64) *moments {
	if len(values) == 0 {
		return nil
	}
	n, mean, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return &moments{mean, math.Sqrt(squares / max(1, n-1))}
}

// newSpread returns that of the results of one algorithm, one for each order.
func newSpread(results []result) *spread {
	var progressive, test, coverage, width []float64
	for _, r := range results {
		progressive = append(progressive, r.Progressive.Value())
		if r.Test != nil {
			test = append(test, r.Test.Value())
		}
		for _, v := range r.Intervals[:min(1, len(r.Intervals))] {
			coverage, width = append(coverage, v.Coverage), append(width, v.Width)
		}
	}
	return &spread{len(results), *newMoments(progressive), newMoments(test), newMoments(coverage), newMoments(width)}
}

// shuffled returns the training rows of s in the order of a seed.
func (s *set) shuffled(seed uint64) *set {
	o := *s
	o.rows = slices.Clone(s.file)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(o.rows), func(i, j int) { o.rows[i], o.rows[j] = o.rows[j], o.rows[i] })
	return &o
}

// everyOrder streams the set through one algorithm, in each order of --orders; a stream has
// its own order alone. The result is that of the first order, and its spread that of all.
func (c *Command) everyOrder(ctx context.Context, s *set, name string, options learner.Config) (result, learner.Progress, []curves.Curve, error) {
	first, p, cs, err := s.run(ctx, name, options, c.Precision)
	if err != nil || c.Orders == 1 || s.rowsAreTime {
		return first, p, cs, err
	}
	all := []result{first}
	for i := 1; i < c.Orders; i++ {
		r, _, _, err := s.shuffled(c.Shuffle+uint64(i)).run(ctx, name, options, c.Precision)
		if err != nil {
			return first, p, cs, err
		}
		all = append(all, r)
	}
	first.Spread = newSpread(all)
	return first, p, cs, nil
}

func newIntervals(p learner.Progress) (all []interval) {
	for _, v := range p.Intervals {
		all = append(all, interval(v))
	}
	return all
}

// spreadText has a line for each algorithm that ran in several orders.
func spreadText(r report) string {
	var b strings.Builder
	for _, a := range r.Results {
		s := a.Spread
		if s == nil {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "\n%s, mean and standard deviation: progressive, test", display.Count(int64(s.Orders), "order"))
			if s.Coverage != nil {
				b.WriteString(", labels inside, mean width")
			}
		}
		fmt.Fprintf(&b, "\n%-14s", a.Algorithm)
		for _, m := range []*moments{&s.Progressive, s.Test, s.Coverage, s.Width} {
			if m != nil {
				fmt.Fprintf(&b, " %18s", fmt.Sprintf("%.4f ± %.4f", m.Mean, m.Deviation))
			}
		}
	}
	return b.String()
}
