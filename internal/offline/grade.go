package offline

import (
	"math"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
)

// Grade compares the predictions of a model with the labels of rows that the model has not learned.
type Grade struct {
	Classes []string // names, for a model with costs of classes

	model *learner.Model
	batch learner.Batch
	task  learner.Task
	rows  int64

	wrong   float64
	meter   *ranking.Meter
	targets []graded // of a regression
	numbers *deviation.Meter
}

// graded accumulates the errors of the predictions of one target.
type graded struct {
	squares        float64 // of the errors
	mean, variance float64 // of the labels; variance is multiplied by the number of rows
}

// NewGrade returns a Grade without rows. Each row will have dim values.
func NewGrade(m *learner.Model, dim int) *Grade {
	g := &Grade{model: m, meter: ranking.New(true), numbers: deviation.New(m.Loss())}
	g.batch.Reset(dim)
	return g
}

// Add grades a row if it has a label. A row without one is only added to the windows.
func (g *Grade) Add(row decode.Row) {
	if row.Label.Task == learner.Auto && row.Windows == nil {
		return
	}
	g.batch.Append(row.X, row.Label, row.Weight)
	g.batch.SetWindows(row.Windows)
	g.batch.SetSparse(row.Sparse)
	g.batch.SetKey(string(row.Key))
	if g.batch.Len() == rowsAtOnce {
		g.flush()
	}
}

func (g *Grade) flush() {
	g.model.Observe(&g.batch)
	out := g.model.Predict(&g.batch)
	rule := out.Decision.Of(g.Classes)
	for i := range g.batch.Len() {
		y := g.batch.Label(i)
		if y.Task == learner.Auto {
			continue // it was only added to the windows
		}
		g.rows++
		g.task = y.Task
		switch y.Task {
		case learner.Novelty:
			if learner.Novel(out.Row(i)) {
				g.wrong++
			}
			meterNovelty(g.meter, out.Row(i), y)
		case learner.Regression:
			if g.targets == nil {
				g.targets = make([]graded, y.Targets())
			}
			g.numbers.AddRow(&out, i, y, 1)
			for j := range g.targets {
				t, v := &g.targets[j], y.At(j)
				e := out.Quantiles.Point(out.Row(i), j) - v
				t.squares += e * e
				d := v - t.mean
				t.mean += d / float64(g.rows)
				t.variance += d * (v - t.mean)
			}
		default:
			p := out.Row(i)
			if learner.Best(p) != y.Class {
				g.wrong++
			}
			g.meter.Add(p, rule.Class(p), y.Class, 1)
			addCost(g.meter, rule, p, y.Class, 1)
		}
	}
	g.batch.Reset(g.batch.Dim())
}

// Figures returns how well the model distinguishes the classes, including the recall at the given
// precision. It returns nil for a regression or a single class.
func (g *Grade) Figures(precision float64) *ranking.Figures {
	g.flush()
	return g.meter.Figures(precision)
}

// Deviation returns the figures of the model's loss for numbers. It returns nil for the square loss
// and for classes.
func (g *Grade) Deviation() *deviation.Figures {
	g.flush()
	return g.numbers.Figures()
}

// Rows returns the number of rows graded so far.
func (g *Grade) Rows() int64 {
	g.flush()
	return g.rows
}

// Task returns the task of the rows graded so far, according to their labels.
func (g *Grade) Task() learner.Task { return g.task }

// Error returns the share of wrong classes, or for novelty the share of flagged rows. For a
// regression it returns the mean squared error divided by the variance of the labels, averaged over
// the targets.
func (g *Grade) Error() float64 {
	g.flush()
	if g.task != learner.Regression {
		return g.wrong / float64(g.rows)
	}
	sum := 0.0
	for _, e := range g.Errors() {
		sum += e
	}
	return sum / float64(len(g.targets))
}

// Errors returns the error of each target of a regression.
func (g *Grade) Errors() (all []float64) {
	g.flush()
	for _, t := range g.targets {
		all = append(all, t.error(g.rows))
	}
	return all
}

// error returns the error of the target over n rows. It is finite, like the error in a learner's
// progress.
func (t *graded) error(n int64) float64 {
	if t.variance > 0 {
		return min(t.squares/t.variance, math.MaxFloat64)
	}
	return min(t.squares/float64(n), 1) // the labels do not vary: the prediction is perfect, or at worst as bad as no model
}
