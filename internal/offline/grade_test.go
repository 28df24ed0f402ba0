package offline

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// Of labels without variance the error is that of a learner's progress: a number from 0 to 1.
func TestErrorOfEqualLabelsIsFinite(t *testing.T) {
	row := func(x, y float64) decode.Row {
		return decode.Row{X: []float64{x}, Label: learner.Label{Task: learner.Regression, Value: y}, Weight: 1}
	}
	fit, err := NewFit(learner.Config{Algorithm: "ridge", MaxFeatures: 32}, decode.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		fit.Add(row(float64(i%7), 3.5))
	}
	model := finished(t, fit)
	for _, c := range []struct {
		label       float64
		rows        int
		least, most float64
	}{{3.5, 1, 0, 1e-12}, {3.5, 300, 0, 1e-12}, {4, 1, 0.24, 0.26}, {900, 2, 1, 1}} {
		g := NewGrade(model, 1)
		for i := range c.rows {
			g.Add(row(float64(i), c.label))
		}
		if e := g.Error(); !(e >= c.least && e <= c.most) {
			t.Errorf("the error of %d labels of %v is %v, want %v to %v", c.rows, c.label, e, c.least, c.most)
		}
	}
}

// A model for novelty predicts nothing before its first fit.
func TestAModelWithoutAFitIsGraded(t *testing.T) {
	fit, err := NewFit(learner.Config{Task: learner.Novelty}, decode.Config{})
	if err != nil {
		t.Fatal(err)
	}
	row := decode.Row{X: []float64{1}, Label: learner.Label{Task: learner.Novelty, Class: learner.KnownNormal}, Weight: 1}
	fit.Add(row)
	model := finished(t, fit)
	g := NewGrade(model, 1)
	g.Add(row)
	if n, f := g.Rows(), g.Figures(0.9); n != 1 || f != nil {
		t.Errorf("%d rows, %+v", n, f)
	}
}

// finished returns the model of a fit that has learned all of its rows.
func finished(t *testing.T, fit *Fit) *learner.Model {
	t.Helper()
	fit.Finish()
	s, err := fit.Snapshot(&decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := learner.NewModel(s.State.Serving)
	if err != nil {
		t.Fatal(err)
	}
	return model
}
