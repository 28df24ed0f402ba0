package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Labels may come long after their rows. A row is then predicted without its label, and
// appended once more with it to a later Batch. What is graded is the prediction that was
// made first, which the host keeps in the meantime:
//
//	pass := l.Predict(b)
//	kept := l.Keep(pass, i)          // row i, as it was predicted
//	l.Learn(pass)
//	…
//	later.Append(x, label, weight)   // the same values
//	pass = l.Predict(later)
//	later.SetKept(0, kept)
//	l.Learn(pass)                    // grades kept, and learns from the model as it is now

// The values before those of a kept prediction.
const (
	keptSize     = iota // values of the prediction; 0: there is none, and nothing follows
	keptScores          // scores
	keptClasses         // classes that the model knew
	keptServed          // values of the prediction that a scorer would have made, if they are kept too
	keptLeverage        // of the row
	keptHead
)

// keptBaselines is the number of baselines, for each target.
const keptBaselines = 3

// Keep returns the values that are needed to grade the prediction for row i once its label is
// known. Call it between Predict and Learn of p: it panics otherwise. Learn sets the last of the
// values, so they are complete only after it. They are finite, and must be stored unchanged.
func (l *Learner) Keep(p *PredictedBatch, i int) []float64 {
	if p != &l.pass || p.learned {
		panic("learner: Keep takes the most recent PredictedBatch, before it is learned")
	}
	if l.labelled == 0 || p.Size == 0 || p.Task == Novelty {
		return []float64{0}
	}
	row, scores := p.Row(i), p.scores(i)
	var served []float64
	if p.isMixed && p.Task == Regression {
		served = p.Scorer.Row(i)
	}
	n := keptHead + len(row) + len(scores) + len(served) + keptBaselines*len(l.validation)
	if p.Task == Regression {
		n += 2 * len(p.head.Scales)
	}
	out := make([]float64, 0, n)
	out = append(out, float64(len(row)), float64(len(scores)), float64(p.head.Classes), float64(len(served)), p.leverage(i))
	out = append(append(append(out, row...), scores...), served...)
	if p.Task == Regression {
		for _, s := range p.head.Scales {
			out = append(out, s.Mean, s.Deviation)
		}
	}
	out = out[:n]
	if p.keeping == nil {
		p.keeping = map[int][]float64{}
	}
	p.keeping[i] = out[n-keptBaselines*len(l.validation):]
	return out
}

// keepBaselines stores in to what the baselines predict for row i, for each target: the most
// frequent class or the mean, the last label, and the linear model. It is called after the rows
// before row i have been learned, so that it does not matter where the PredictedBatch begins.
func (l *Learner) keepBaselines(to []float64, p *PredictedBatch, i int) {
	linear := l.linearOf(p, i)
	for j := range l.validation {
		frequent, last := float64(Best(l.weights)), float64(l.last.Class)
		if p.Task == Regression {
			frequent, last = l.means[j], target.Bounded(l.last.At(j))
		}
		third := frequent
		switch {
		case p.isMixed && p.Task == Regression:
			third = p.head.Quantiles.Point(p.linear[i*p.Size:(i+1)*p.Size], j)
		case p.isMixed:
			third = float64(Best(p.linear[i*p.Size : (i+1)*p.Size]))
		case linear != nil:
			class, value := baseline.Prediction(&p.head, linear, j)
			third = float64(class) + value // one of them is 0
		}
		copy(to[j*keptBaselines:], []float64{frequent, last, third})
	}
}

// linearOf returns the scores of the linear baseline for row i of p, nil if it has none.
func (l *Learner) linearOf(p *PredictedBatch, i int) []float64 {
	if l.fit == nil || !l.linear.Ready() || p.isMixed {
		return nil
	}
	l.scratch.linear = state.Extend(l.scratch.linear[:0], l.linear.Targets)
	l.linear.Predict(l.scratch.linear, p.x[i*l.width():(i+1)*l.width()])
	return l.scratch.linear
}

// kept is a prediction that was made earlier.
type kept struct {
	head      target.Head
	row       []float64 // the prediction
	scores    []float64
	served    []float64 // of a mixture's regression: what a scorer would have predicted
	baselines []float64
	leverage  float64
}

// readKept decodes values that Keep returned, for a model with the head h. ok is false if there was
// no prediction.
func readKept(h *target.Head, b []float64) (k kept, ok bool, err error) {
	if len(b) == 1 && b[0] == 0 {
		return k, false, nil
	}
	if len(b) < keptHead {
		return k, false, fmt.Errorf("a kept prediction has %d values", len(b))
	}
	size, scores, classes, served := int(b[keptSize]), int(b[keptScores]), int(b[keptClasses]), int(b[keptServed])
	k.head, k.leverage = *h, b[keptLeverage]
	scales := 0
	switch {
	case h.Task == Classification && classes >= 1 && classes <= h.Classes:
		k.head = target.NewHead(h.Loss, Classification, classes, 1)
	case h.Task == Regression && classes == 0:
		scales = 2 * h.Targets()
	default:
		return k, false, fmt.Errorf("a kept prediction of %d classes, the model has %d", classes, h.Classes)
	}
	if size != k.head.PredictionSize() || scores != k.head.Scores() || served != 0 && (served != size || scales == 0) {
		return k, false, fmt.Errorf("a kept prediction has %d values and %d scores, want %d and %d", size, scores, k.head.PredictionSize(), k.head.Scores())
	}
	if want := keptHead + size + scores + served + scales + keptBaselines*h.Targets(); len(b) != want {
		return k, false, fmt.Errorf("a kept prediction has %d values, want %d", len(b), want)
	}
	b = b[keptHead:]
	take := func(n int) (v []float64) {
		v, b = b[:n:n], b[n:]
		return v
	}
	k.row, k.scores, k.served = take(size), take(scores), take(served)
	if scales > 0 {
		k.head.Scales = make([]target.Scale, h.Targets())
		for j := range k.head.Scales {
			v := take(2)
			k.head.Scales[j] = target.Scale{Mean: v[0], Deviation: v[1]}
		}
	}
	k.baselines = b
	return k, true, nil
}

// CheckKept returns an error if Keep of this Learner cannot have returned b.
func (l *Learner) CheckKept(b []float64) error {
	_, _, err := readKept(&l.head, b)
	return err
}

// keptOf returns the prediction that was made earlier for row i. late is false if the row is
// predicted here for the first time; ok is false if there is no earlier prediction.
func (p *PredictedBatch) keptOf(i int) (k kept, late, ok bool) {
	b := p.batch.keptOf(i)
	if b == nil {
		return k, false, false
	}
	k, ok, err := readKept(&p.head, b)
	if err != nil {
		panic("learner: " + err.Error())
	}
	return k, true, ok
}

// graded returns the prediction that is graded for row i, with its scores and their head. ok is
// false if nothing was predicted.
func (p *PredictedBatch) graded(i int) (head *target.Head, scores, row []float64, ok bool) {
	if k, late, ok := p.keptOf(i); late {
		return &k.head, k.scores, k.row, ok
	}
	return &p.head, p.scores(i), p.Row(i), true
}

// Graded returns the prediction that is graded for row i. A prediction that was made earlier is row
// 0 of Predictions without any other row; otherwise it is row i of p. The row has no values if
// nothing was predicted.
func (p *PredictedBatch) Graded(i int) (of *Predictions, row int) {
	k, late, _ := p.keptOf(i)
	if !late {
		return &p.Predictions, i
	}
	out := p.Predictions
	out.Values, out.Size, out.Crossed, out.Leverages = k.row, len(k.row), nil, nil
	return &out, 0
}

// validateKept is validate for a prediction that was made earlier.
func (l *Learner) validateKept(k *kept, y Label, weight float64) {
	for j := range l.validation {
		b := k.baselines[j*keptBaselines:]
		errors := [4]float64{k.head.Error(k.row, y, j)}
		for n := range keptBaselines {
			errors[1+n] = baseline.Error(&l.head, y, j, int(b[n]), b[n])
		}
		value := float64(y.Class)
		if l.head.Task == Regression {
			value = target.Bounded(y.At(j))
		}
		l.validation[j].Add(weight, errors, target.Finite(k.head.GradedLoss(k.scores, k.row, y, j)), value)
	}
}

// addResiduals adds the residual of row i to the intervals: that of the prediction that was
// made for it first. served and mixed are those of p.
func (l *Learner) addResiduals(p *PredictedBatch, i int, served, mixed []float64, y Label) {
	leverage := p.leverage(i)
	if k, late, ok := p.keptOf(i); late {
		if !ok {
			return
		}
		served, mixed, leverage = k.row, k.row, k.leverage
		if len(k.served) > 0 {
			served = k.served
		}
	}
	l.rules.AddResiduals(l.points(served), l.points(mixed), leverage, y)
}

// firstSeen returns the values of the rows of p that were not predicted earlier.
func (p *PredictedBatch) firstSeen() []float64 {
	b := p.batch
	if b.kept == nil {
		return b.x[:p.rows*b.dim]
	}
	var x []float64
	for i := range p.rows {
		if b.keptOf(i) == nil {
			x = append(x, b.X(i)...)
		}
	}
	return x
}
