package history

import "github.com/accrete-ml/accrete/learner"

// Settled is a prediction that was graded after it was made.
type Settled struct {
	Topic     string // of the label
	Partition int32
	Offset    int64 // of the label; -1 if none came
	Key       string
	Time      int64 // time of the features
	Loss      float64
	Graded    bool    // Loss and Wrong are set
	Wrong     float64 // 0 or 1, or the squared error of the first target
	Weight    float64
}

// settle calls h.Settled for row i of a pass, which was predicted earlier.
func (h *History) settle(it Item, pass *learner.PredictedBatch, i int, y learner.Label, weight float64) {
	s := Settled{Offset: -1, Key: it.event.Key, Time: it.event.Time, Weight: weight}
	if it.Record != nil {
		s.Topic, s.Partition, s.Offset = it.in.Topic, it.in.Partition, it.Record.Offset
	}
	of, row := pass.Graded(i)
	s.Loss, s.Graded = pass.Loss(i)
	switch {
	case y.Task == learner.Classification && it.event.Class != y.Class:
		s.Wrong = 1
	case y.Task == learner.Regression && of.Size > 0:
		d := of.Quantiles.Point(of.Row(row), 0) - y.Value
		s.Wrong = d * d
	}
	h.Settled(s)
}
