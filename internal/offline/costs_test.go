package offline

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
)

// rareRows calls row for n rows of which one in fifty is of class 1, and is found only in
// part.
func rareRows(seed uint64, n int, row func(decode.Row)) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		class, x := 0, 0.0
		if i%50 == 49 {
			class, x = 1, 1.3
		}
		row(decode.Row{X: []float64{r.NormFloat64() + x, r.NormFloat64() + x}, Label: learner.Label{Task: learner.Classification, Class: class}, Weight: 1})
	}
}

// With 2 % of a class, the threshold learned on the stream has an F1 within .03 of the best
// in hindsight, progressively and on rows that come later. Predicting the most probable
// class is far from it.
func TestLearnedThresholdIsNearlyTheBest(t *testing.T) {
	var figures [2][2]*ranking.Figures // of costs, progressive and later
	for i, costs := range []string{"f1", "none"} {
		fit, err := NewFit(learner.Config{Algorithm: "ridge", MaxFeatures: 32, Costs: costs}, decode.Config{})
		if err != nil {
			t.Fatal(err)
		}
		rareRows(3, 12000, fit.Add)
		model := finished(t, fit)
		g := NewGrade(model, 2)
		rareRows(4, 12000, g.Add)
		figures[i] = [2]*ranking.Figures{fit.Figures(0.9), g.Figures(0.9)}
		if costs == "f1" {
			decides(t, model)
		}
	}
	for j, when := range []string{"progressive", "later"} {
		learned, plain := figures[0][j], figures[1][j]
		if learned.BestF1-learned.F1 > 0.03 || learned.F1-plain.F1 < 0.1 || learned.BestF1 != plain.BestF1 {
			t.Errorf("%s: F1 is %.4f, without a threshold %.4f, at best %.4f and %.4f", when, learned.F1, plain.F1, learned.BestF1, plain.BestF1)
		}
	}
}

// decides checks that records have the class that the model decides for.
func decides(t *testing.T, model *learner.Model) {
	classes := []string{"ok", "fraud"}
	e := record.NewEncoder(record.ModelID{Name: "m"}, classes, 1<<20)
	differ := 0
	var b learner.Batch
	b.Reset(2)
	rareRows(5, 2000, func(r decode.Row) { b.Append(r.X, learner.Label{}, 1) })
	p := model.Predict(&b)
	for i := range b.Len() {
		var got struct{ Prediction string }
		x := record.Example{Topic: "t", Record: &ingest.Record{}, Decision: p.Decision}
		if err := json.Unmarshal(e.Record(x, p.Task, p.Row(i)).Value, &got); err != nil {
			t.Fatal(err)
		}
		class := p.Decision.Of(classes).Class(p.Row(i))
		if want := []string{"ok", "fraud"}[class]; got.Prediction != want {
			t.Fatalf("probabilities %v: the record has %q, want %q", p.Row(i), got.Prediction, want)
		}
		if class != learner.Best(p.Row(i)) {
			differ++
		}
	}
	if differ == 0 {
		t.Error("every prediction is of the most probable class")
	}
}

// Costs by class are those of the predictions: where a missed fraud costs 20, its recall is
// that of the threshold 1/21, progressively, later and in records.
func TestCostsByClassDecide(t *testing.T) {
	fit, err := NewFit(learner.Config{Algorithm: "ridge", MaxFeatures: 32, Costs: `{"fraud": 20}`}, decode.Config{})
	if err != nil {
		t.Fatal(err)
	}
	classes := []string{"ok", "fraud"}
	fit.Classes = func() []string { return classes }
	rareRows(3, 6000, fit.Add)
	fit.Finish()
	s, err := fit.Snapshot(&decode.Schema{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	model, err := learner.NewModel(s.State.Serving)
	if err != nil {
		t.Fatal(err)
	}
	decides(t, model)
	g := NewGrade(model, 2)
	g.Classes = classes
	var b learner.Batch
	b.Reset(2)
	var labels []int
	rareRows(4, 6000, func(r decode.Row) {
		g.Add(r)
		b.Append(r.X, learner.Label{}, 1)
		labels = append(labels, r.Label.Class)
	})
	p := model.Predict(&b)
	hits, misses, missed := 0.0, 0.0, 0.0
	cost, plain := 0.0, 0.0
	for i, class := range labels {
		decided := p.Row(i)[1] > 1./21
		switch {
		case decided && class == 1:
			hits++
		case decided:
			misses++
			cost++
		case class == 1:
			missed++
			cost += 20
		}
		if best := learner.Best(p.Row(i)); best != class {
			plain += []float64{1, 20}[class]
		}
	}
	if want, got := ranking.F1(hits, misses, missed), g.Figures(0.9).F1; math.Abs(got-want) > 1e-9 {
		t.Errorf("F1 is %v, that of the threshold %v", got, want)
	}
	if cost > 0.8*plain {
		t.Errorf("the predictions cost %v, the most probable class %v", cost, plain)
	}
	if fit.Figures(0.9).F1 == 0 {
		t.Error("progressive predictions are of the most probable class")
	}
}
