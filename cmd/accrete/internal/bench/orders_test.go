package bench

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// The spread is that of the closed form: mean, and the deviation of a sample.
func TestSpreadHasMeansAndDeviations(t *testing.T) {
	var all []result
	for i, v := range []float64{0.1, 0.2, 0.6} {
		test := display.NewFigure(learner.Regression, 2*v, 10)
		all = append(all, result{Progressive: display.NewFigure(learner.Regression, v, 10), Test: &test, Intervals: []interval{{Coverage: 0.9, Width: float64(i)}}})
	}
	s := newSpread(all)
	for _, m := range []struct {
		got             moments
		mean, deviation float64
	}{{s.Progressive, 0.3, math.Sqrt(0.07)}, {*s.Test, 0.6, math.Sqrt(0.28)}, {*s.Coverage, 0.9, 0}, {*s.Width, 1, 1}} {
		if math.Abs(m.got.Mean-m.mean) > 1e-12 || math.Abs(m.got.Deviation-m.deviation) > 1e-12 {
			t.Errorf("%+v, want %v ± %v", m.got, m.mean, m.deviation)
		}
	}
	if one := newSpread([]result{{Progressive: display.NewFigure(learner.Regression, 1, 1)}}); one.Progressive.Deviation != 0 || one.Test != nil || one.Coverage != nil {
		t.Errorf("%+v", one)
	}
}

// An order has all rows, is that of its seed, and leaves the others as they are.
func TestEveryOrderHasAllRows(t *testing.T) {
	s := &set{file: make([]decode.Row, 50)}
	for i := range s.file {
		s.file[i].Weight = float64(i)
	}
	weights := func(rows []decode.Row) (w []float64) {
		for _, r := range rows {
			w = append(w, r.Weight)
		}
		return w
	}
	a, b, again := s.shuffled(1), s.shuffled(2), s.shuffled(1)
	if slices.Equal(weights(a.rows), weights(b.rows)) || !slices.Equal(weights(a.rows), weights(again.rows)) || !slices.IsSorted(weights(s.file)) {
		t.Error("the orders are not those of their seeds")
	}
	sorted := weights(a.rows)
	slices.Sort(sorted)
	if !slices.Equal(sorted, weights(s.file)) {
		t.Errorf("rows %v", sorted)
	}
}
