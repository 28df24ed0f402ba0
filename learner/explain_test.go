package learner

import (
	"errors"
	"math"
	"testing"
)

// The base and the parts of an explanation sum to the scores, for every kind of model, and
// a column that a model does not use has no part.
func TestExplanationsAddUp(t *testing.T) {
	rows, types := mixed(700, func(_ int, x []float64) Label { return Label{Task: Regression, Value: 100 + 10*x[0] - x[1]} })
	three, _ := mixed(700, func(i int, x []float64) Label {
		return Label{Task: Classification, Class: i % 3}
	})
	for name, c := range map[string]struct {
		config Config
		rows   *Batch
		types  []ColumnType
	}{
		"newton":     {Config{Algorithm: "newton", MaxFeatures: 128}, waves(600), nil},
		"dsg":        {Config{Algorithm: "dsg", MaxFeatures: 96, Kernel: "matern:1.5"}, waves(600), nil},
		"forest":     {Config{Algorithm: "newton", MaxFeatures: 64, Forest: 10}, waves(600), nil},
		"mixture":    {Config{Algorithm: "newton", MaxFeatures: 64, Mixture: true}, waves(600), nil},
		"leverage":   {Config{Algorithm: "newton", MaxFeatures: 64, Mixture: true, Sampling: "leverage"}, waves(600), nil},
		"columns":    {Config{Algorithm: "ridge", MaxFeatures: 64}, rows, types},
		"softmax":    {Config{Algorithm: "ridge", MaxFeatures: 64}, three, types},
		"polynomial": {Config{Algorithm: "ridge", MaxFeatures: 64, Kernel: "polynomial:2"}, waves(600), nil},
	} {
		l := newLearner(t, c.config)
		learnTo(l, c.rows, c.types)
		m, err := NewModel(l.State().Serving)
		if err != nil {
			t.Fatal(name, err)
		}
		b := c.rows.Slice(500, 530)
		if c.types != nil {
			b = upTo(c.rows, c.types, 500, 530)
		}
		all, err := m.Explain(b)
		if name == "polynomial" {
			if !errors.Is(err, ErrUnexplained) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(all) != 30 {
			t.Fatalf("%s: %d explanations, %v", name, len(all), err)
		}
		size := 1.0
		for _, v := range m.coef {
			size += math.Abs(float64(v))
		}
		for _, v := range m.leafCoef {
			size += math.Abs(float64(v))
		}
		if c.rows == rows {
			size *= 20 // in the label's units
		}
		p := m.Predict(b)
		for i, e := range all {
			if len(e.Parts) != b.Dim()*e.Size {
				t.Fatalf("%s: %d parts of %d columns", name, len(e.Parts), b.Dim())
			}
			for s := range e.Size {
				sum := e.Base[s]
				for j := range b.Dim() {
					sum += e.Parts[j*e.Size+s]
				}
				if d := e.Scores[s] - sum; math.Abs(d) > ExplanationRest*size || math.Abs(d-e.Rest[s]) > 1e-9 {
					t.Errorf("%s, row %d: the parts sum to %v, want %v; rest %v, bound %v", name, i, sum, e.Scores[s], e.Rest[s], ExplanationRest*size)
				}
				if c.rows == rows && (math.Abs(e.Scores[s]-p.Row(i)[s]) > 1e-9 || e.Parts[7] != 0) {
					t.Errorf("%s, row %d: score %v of the prediction %v, part %v of a column without values", name, i, e.Scores[s], p.Row(i)[s], e.Parts[7])
				}
			}
		}
	}
	all, few := prunedModel(t, Config{Algorithm: "newton", MaxFeatures: 128})
	b := waves(20)
	x, err := all.Explain(b)
	y, worse := few.Explain(b)
	if err != nil || worse != nil {
		t.Fatal(err, worse)
	}
	for i := range x {
		for j := range x[i].Parts {
			if x[i].Parts[j] != y[i].Parts[j] {
				t.Errorf("pruned, row %d: part %v, want %v", i, y[i].Parts[j], x[i].Parts[j])
			}
		}
	}
}

// learnTo learns all rows of b.
func learnTo(l *Learner, b *Batch, types []ColumnType) {
	for from := 0; from < b.Len(); {
		s := b.Slice(from, b.Len())
		if types != nil {
			s = upTo(b, types, from, b.Len())
		}
		p := l.Predict(s)
		from += p.Len()
		l.Learn(p)
	}
}
