package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/process"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/papers/dsg"
	"github.com/accrete-ml/accrete/learner"
)

// Maximum numbers of rows of a set that --paper dsg and cdsg use without --full. paperTrain and
// paperTest are for support vector machines, paperRows for all other experiments.
const (
	paperTrain = 8000
	paperTest  = 4000
	paperRows  = 20000
)

// heldOut is the number of rows of which one is kept for testing, in a set without test rows.
const heldOut = 5

// gradients runs the experiments of the papers on doubly stochastic gradients.
func (c *Command) gradients(ctx context.Context, e *env.Env) error {
	progress := e.Progress(false)
	o := dsg.Options{Full: c.Full, Section: c.Section, Clock: process.CPUSeconds, Progress: func(text string) { progress.Update(text, nil) }}
	run := dsg.DSG
	if c.Paper == "cdsg" {
		if run = dsg.CDSG; c.Dir == "" {
			return exit.Usage("--paper cdsg wants a folder of data sets")
		}
	}
	unread := 0
	if c.Dir != "" {
		var err error
		unread, err = c.each(ctx, e, func(s *set) error {
			if c.Paper == "dsg" && s.task != learner.Classification {
				return fmt.Errorf("%w: it wants classes", errUnfit)
			}
			if err := s.numeric(); err != nil {
				return err
			}
			if c.Paper == "dsg" {
				o.Novelty = append(o.Novelty, c.growthRows(s))
				o.SVM = append(o.SVM, c.twoClasses(s))
			} else {
				o.Growth = append(o.Growth, c.growthRows(s))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	report, err := run(ctx, o)
	if err != nil {
		return err
	}
	progress.Done()
	if err := c.present(e, report); err != nil {
		return err
	}
	return incomplete(unread)
}

// first returns the first n rows, and all of them with --full.
func (c *Command) first(rows []decode.Row, n int) []decode.Row {
	if c.Full {
		return rows
	}
	return rows[:min(n, len(rows))]
}

func (c *Command) growthRows(set *set) *dsg.Rows {
	r := &dsg.Rows{Name: set.name, Dim: len(set.schema.Columns), Settings: presets[set.name].steps}
	for _, row := range c.first(set.rows, paperRows) {
		r.X, r.Labels = append(r.X, imputed(row.X)...), append(r.Labels, row.Label)
	}
	return r
}

// imputed returns a copy of x with 0 in place of missing values.
func imputed(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			out[i] = v
		}
	}
	return out
}

// twoClasses returns a set as two classes: those that its preset tells apart or, without them, the
// most frequent class against the others. Columns with values above 1 in magnitude are divided by
// their standard deviation.
func (c *Command) twoClasses(set *set) *dsg.Set {
	if len(set.test) == 0 { // the rows are shuffled, unless they are a stream
		n := len(set.rows) / heldOut
		set.rows, set.test = set.rows[n:], set.rows[:n]
	}
	s := &dsg.Set{Name: set.name, Dim: len(set.schema.Columns)}
	of, against := slices.Index(set.schema.Classes, presets[set.name].of), slices.Index(set.schema.Classes, presets[set.name].against)
	if of >= 0 && against >= 0 {
		s.Name += ", class " + presets[set.name].of + " against " + presets[set.name].against
		other := func(r decode.Row) bool { return r.Label.Class != of && r.Label.Class != against }
		set.rows, set.test = slices.DeleteFunc(set.rows, other), slices.DeleteFunc(set.test, other)
	}
	train, test := c.first(set.rows, paperTrain), c.first(set.test, paperTest)
	counts, first := make([]int, len(set.schema.Classes)), 0
	for _, row := range train {
		if counts[row.Label.Class]++; counts[row.Label.Class] > counts[first] {
			first = row.Label.Class
		}
	}
	if of >= 0 && against >= 0 {
		first = of
	} else if len(counts) > 2 {
		s.Name += ", class " + set.schema.Classes[first] + " against the others"
	}
	scale := deviations(train, s.Dim)
	take := func(rows []decode.Row) (x []float32, y []float64) {
		for _, row := range rows {
			for i, v := range imputed(row.X) {
				x = append(x, float32(v/scale[i]))
			}
			label := -1.0
			if row.Label.Class == first {
				label = 1
			}
			y = append(y, label)
		}
		return x, y
	}
	s.Train, s.Y = take(train)
	s.Test, s.TestY = take(test)
	return s
}

// deviations returns the standard deviation of each column, or 1 if the values of the column are at
// most 1 in magnitude or all equal.
func deviations(rows []decode.Row, dim int) []float64 {
	out := make([]float64, dim)
	for j := range out {
		mean, squares, most := 0.0, 0.0, 0.0
		for i, row := range rows {
			v := imputed(row.X[j : j+1])[0]
			d := v - mean
			mean += d / float64(i+1)
			squares += d * (v - mean)
			most = max(most, math.Abs(v))
		}
		if out[j] = math.Sqrt(squares / float64(len(rows))); most <= 1 || out[j] == 0 {
			out[j] = 1
		}
	}
	return out
}
