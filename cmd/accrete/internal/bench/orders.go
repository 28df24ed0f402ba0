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

// spread holds means and standard deviations over several runs, each with another order of the
// training rows or another start in a stream.
type spread struct {
	Orders      int      `json:"orders"`
	Progressive moments  `json:"progressive"`
	Test        *moments `json:"test,omitempty"`
	Coverage    *moments `json:"coverage,omitempty"` // of the intervals of a regression of one target
	Width       *moments `json:"width,omitempty"`

	// The F1 scores are those of the rarer of two classes, of the progressive predictions.
	F1       *moments `json:"f1,omitempty"`
	BestF1   *moments `json:"best_f1,omitempty"`
	Missed   *moments `json:"f1_below_best,omitempty"` // how much F1 is below the best one
	WorstOne *float64 `json:"f1_below_best_worst,omitempty"`
}

type moments struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // of a sample
}

// interval says how often the intervals of one target contain the label, and how wide they are.
type interval struct {
	Coverage float64 `json:"coverage"` // of the progressive predictions
	Width    float64 `json:"width"`    // mean, in the label's units
}

func (m *moments) String() string { return fmt.Sprintf("%.4f ± %.4f", m.Mean, m.Deviation) }

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

// newSpread returns the spread of the results of one algorithm, one result for each run.
func newSpread(results []result) *spread {
	var progressive, test, coverage, width, f1, best, missed []float64
	for _, r := range results {
		progressive = append(progressive, r.Progressive.Value())
		if r.Test != nil {
			test = append(test, r.Test.Value())
		}
		for _, v := range r.Intervals[:min(1, len(r.Intervals))] {
			coverage, width = append(coverage, v.Coverage), append(width, v.Width)
		}
		if k := r.Progressive.Classes; k != nil && k.Figures.Class != nil && k.Curve != nil {
			f1, best, missed = append(f1, k.F1), append(best, k.BestF1), append(missed, k.BestF1-k.F1)
		}
	}
	s := &spread{
		Orders: len(results), Progressive: *newMoments(progressive), Test: newMoments(test), Coverage: newMoments(coverage), Width: newMoments(width),
		F1: newMoments(f1), BestF1: newMoments(best), Missed: newMoments(missed),
	}
	if len(missed) > 0 {
		worst := slices.Max(missed)
		s.WorstOne = &worst
	}
	return s
}

// shuffled returns the training rows of s in the order of a seed.
func (s *set) shuffled(seed uint64) *set {
	o := *s
	o.rows = slices.Clone(s.file)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(o.rows), func(i, j int) { o.rows[i], o.rows[j] = o.rows[j], o.rows[i] })
	return &o
}

// startsApart is the number of rows between two of --starts: twice the warm-up, so that no
// two runs choose scale, kernel and penalty on the same rows.
const startsApart = 2000

// from returns the stream s from the i-th of n starting rows on. The number of rows is the same for
// every i.
func (s *set) from(i, n int) (*set, error) {
	rows := len(s.rows) - startsApart*(n-1)
	if rows < 1 {
		return nil, fmt.Errorf("%w: %d rows are too few for %d starts, which are %d rows apart", errUnfit, len(s.rows), n, startsApart)
	}
	o := *s
	o.rows = s.rows[startsApart*i : startsApart*i+rows]
	return &o, nil
}

// runsOf returns how often a set is streamed: once for each order of the training rows, for each
// start in a stream, or for each drawing of --rare.
func (c *Command) runsOf(s *set) int {
	switch {
	case !s.rowsAreTime || c.Rare > 0 && c.Starts == 1:
		return c.Orders
	default:
		return c.Starts
	}
}

// ordered returns s with the rows of run i, in their order.
func (c *Command) ordered(s *set, i int) (o *set, err error) {
	seed := c.Shuffle + uint64(i)
	switch o = s; {
	case s.rowsAreTime:
		if o, err = s.from(min(i, c.Starts-1), c.Starts); err != nil {
			return nil, err
		}
	case i > 0:
		o = s.shuffled(seed)
	}
	if c.Rare > 0 {
		return c.rarer(o, seed)
	}
	return o, nil
}

// everyOrder streams the set through one algorithm, in each order of --orders or from each of
// --starts. What it returns describes the first run, except the spread in the result, which
// describes all runs.
func (c *Command) everyOrder(ctx context.Context, s *set, name string, options learner.Config) (first result, p learner.Progress, cs []curves.Curve, err error) {
	var all []result
	for i := range c.runsOf(s) {
		o, err := c.ordered(s, i)
		if err != nil {
			return first, p, nil, err
		}
		r, progress, drawn, err := o.run(ctx, name, options, c.Precision)
		if err != nil {
			return first, p, nil, err
		}
		if i == 0 {
			first, p, cs = r, progress, drawn
		}
		all = append(all, r)
	}
	if len(all) > 1 {
		first.Spread = newSpread(all)
	}
	return first, p, cs, nil
}

func newIntervals(p learner.Progress) (all []interval) {
	for _, v := range p.Intervals {
		all = append(all, interval(v))
	}
	return all
}

// spreadText returns a line for each algorithm that ran several times. If rare is set, the line has
// the F1 scores as well.
func spreadText(r report, rare bool) string {
	var b strings.Builder
	for _, a := range r.Results {
		s := a.Spread
		if s == nil {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "\n%s, mean and standard deviation: progressive", display.Count(int64(s.Orders), "run"))
			if s.Test != nil {
				b.WriteString(", test")
			}
			if s.Coverage != nil {
				b.WriteString(", labels inside, mean width")
			}
			if rare && s.F1 != nil {
				b.WriteString(", F1, best F1, how much F1 is below it, and the most")
			}
		}
		fmt.Fprintf(&b, "\n%-14s", a.Algorithm)
		for _, m := range []*moments{&s.Progressive, s.Test, s.Coverage, s.Width} {
			if m != nil {
				fmt.Fprintf(&b, " %18s", m)
			}
		}
		if rare && s.F1 != nil {
			fmt.Fprintf(&b, " %18s %18s %18s %8.4f", s.F1, s.BestF1, s.Missed, *s.WorstOne)
		}
	}
	return b.String()
}
