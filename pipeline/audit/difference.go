package audit

import (
	"encoding/json"
	"math"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
)

// Difference compares the predictions that two models have made of the same records.
type Difference struct {
	Compared  int64 `json:"compared"`  // records that both have predicted
	Different int64 `json:"different"` // predictions that differ in any bit
	Changed   int64 `json:"changed"`   // predictions of another class; for numbers, the same as Different
	// Mean is the mean absolute difference of the predicted numbers. For classes, it is the mean of
	// half the sum of the absolute differences of the probabilities.
	Mean    float64 `json:"mean"`
	Largest float64 `json:"largest"` // largest of these differences

	Graded  int64 `json:"graded"` // number of Compared for which both predictions were graded by a label
	With    Grade `json:"with"`   // the model with the records
	Without Grade `json:"without"`
}

// Grade describes how good predictions were.
type Grade struct {
	Loss  float64 `json:"loss"`  // weighted mean
	Error float64 `json:"error"` // share of wrong classes, or the mean squared error
}

// made is a prediction of one of the models.
type made struct {
	topic     string
	partition int32
	offset    int64
	answer    string // member "prediction" of the published record
	task      learner.Task
	row       []float64
	classes   []string
	graded    bool
	loss      float64
	wrong     float64 // 0 or 1, or the squared error
	weight    float64
}

// difference accumulates a Difference. Both models see the same records in the same order, except
// that the second one does not see all of them.
type difference struct {
	sum    Difference
	weight float64
	a, b   []made

	late map[settledAt]*history.Settled // settled by the first model, and not yet by the second
}

// settledAt identifies a prediction that is graded later: what it was made for, and which label
// graded it.
type settledAt struct {
	topic     string
	partition int32
	offset    int64
	key       string
	time      int64
}

func (d *difference) settledWith(s history.Settled) {
	if d.late == nil {
		d.late = map[settledAt]*history.Settled{}
	}
	d.late[placeOf(&s)] = &s
}

// settledWithout is called after settledWith for the same BATCH. If the second model settles a
// prediction in a later BATCH than the first, it is compared then; if in an earlier one, not at
// all.
func (d *difference) settledWithout(s history.Settled) {
	at := placeOf(&s)
	if was := d.late[at]; was != nil && was.Graded && s.Graded {
		d.grade(was.Weight, was.Loss, was.Wrong, s.Weight, s.Loss, s.Wrong)
	}
	delete(d.late, at)
}

func placeOf(s *history.Settled) settledAt {
	return settledAt{s.Topic, s.Partition, s.Offset, s.Key, s.Time}
}

func (d *difference) with(p history.Predicted)    { d.a = append(d.a, newMade(p)) }
func (d *difference) without(p history.Predicted) { d.b = append(d.b, newMade(p)) }

func newMade(p history.Predicted) made {
	m := made{
		topic: p.Topic, partition: p.Partition, offset: p.Record.Offset, task: p.Pass.Task,
		row: append([]float64(nil), p.Pass.Row(p.Row)...), classes: p.Schema.Classes,
		graded: p.Graded, loss: p.Loss, weight: p.Weight,
	}
	var value struct {
		Prediction json.RawMessage `json:"prediction"`
		Label      json.RawMessage `json:"label"`
	}
	if json.Unmarshal(asJSON(p.Published), &value) == nil {
		m.answer = string(value.Prediction)
	}
	switch {
	case m.task == learner.Classification && m.answer != string(value.Label):
		m.wrong = 1
	case m.task == learner.Regression && len(m.row) > 0:
		d := p.Pass.Quantiles.Point(m.row, 0) - p.Label.Value
		m.wrong = d * d
	}
	return m
}

// compare compares the predictions of a BATCH.
func (d *difference) compare() {
	i := 0
	for _, b := range d.b {
		for i < len(d.a) && (d.a[i].topic != b.topic || d.a[i].partition != b.partition || d.a[i].offset != b.offset) {
			i++
		}
		if i < len(d.a) {
			d.pair(&d.a[i], &b)
		}
	}
	d.a, d.b = d.a[:0], d.b[:0]
}

func (d *difference) pair(a, b *made) {
	s := &d.sum
	s.Compared++
	by, same := apart(a, b)
	if !same {
		s.Different++
	}
	if a.answer != b.answer {
		s.Changed++
	}
	s.Mean += by
	s.Largest = max(s.Largest, by)
	if !a.graded || !b.graded {
		return
	}
	d.grade(a.weight, a.loss, a.wrong, b.weight, b.loss, b.wrong)
}

// grade adds how both models have done on one example.
func (d *difference) grade(weight, loss, wrong, weightWithout, lossWithout, wrongWithout float64) {
	s := &d.sum
	s.Graded++
	d.weight += weight
	s.With.Loss += weight * loss
	s.With.Error += weight * wrong
	s.Without.Loss += weightWithout * lossWithout
	s.Without.Error += weightWithout * wrongWithout
}

// apart returns the difference of two predictions, and whether they are the same.
func apart(a, b *made) (by float64, same bool) {
	same = a.task == b.task && len(a.row) == len(b.row)
	if a.task != learner.Classification {
		for i := range min(len(a.row), len(b.row)) {
			same = same && math.Float64bits(a.row[i]) == math.Float64bits(b.row[i])
			by = max(by, math.Abs(a.row[i]-b.row[i]))
		}
		return by, same
	}
	odds := map[string]float64{} // the models may know the classes in another order
	for i, p := range a.row {
		odds[a.classes[i]] = p
	}
	for i, p := range b.row {
		was, ok := odds[b.classes[i]]
		same = same && ok && math.Float64bits(p) == math.Float64bits(was)
		by += math.Abs(p - was)
		delete(odds, b.classes[i])
	}
	for _, name := range a.classes[:min(len(a.row), len(a.classes))] {
		by += odds[name] // 0 if it was compared
	}
	return by / 2, same
}

// mean returns the means of the sums.
func (d *difference) mean() Difference {
	out := d.sum
	out.Mean /= math.Max(1, float64(out.Compared))
	if d.weight > 0 {
		for _, g := range []*Grade{&out.With, &out.Without} {
			g.Loss /= d.weight
			g.Error /= d.weight
		}
	}
	return out
}
