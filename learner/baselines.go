package learner

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// validate adds the errors of the prediction for row i of p, and of the baselines, to
// the progressive validation.
func (l *Learner) validate(p *PredictedBatch, i int, y Label, weight float64) {
	if l.labelled == 0 || p.Size == 0 {
		return // nothing has been predicted
	}
	f := p.scores(i)
	if l.head.Task == Novelty { // without baselines
		l.validation[0].add(weight, [4]float64{p.head.Error(p.Row(i), y, 0)}, target.Finite(p.head.GradedLoss(f, nil, y, 0)), 0)
		return
	}
	linear := l.fit != nil && l.linear.Ready() && !p.isMixed
	if linear {
		l.scratch.linear = state.Extend(l.scratch.linear[:0], l.linear.Targets)
		l.linear.Predict(l.scratch.linear, p.x[i*l.width():(i+1)*l.width()])
	}
	frequent := Best(l.weights)
	for j := range l.validation {
		errors := [4]float64{
			p.head.Error(p.Row(i), y, j),
			l.naive(y, j, frequent, l.means[j]),
			l.naive(y, j, l.last.Class, l.last.At(j)),
		}
		errors[3] = errors[1]
		if linear {
			class, value := l.linearPrediction(l.scratch.linear, j)
			errors[3] = l.naive(y, j, class, value)
		}
		if p.isMixed {
			values := p.linear[i*p.Size : (i+1)*p.Size]
			errors[3] = p.head.Error(values, y, j)
		}
		value := float64(y.Class)
		if l.head.Task == Regression {
			value = target.Bounded(y.At(j))
		}
		l.validation[j].add(weight, errors, target.Finite(p.head.GradedLoss(f, p.Row(i), y, j)), value)
	}
}

// naive returns the error of a baseline that predicts the class, or the value of target
// j, for a row of label y.
func (l *Learner) naive(y Label, j, class int, value float64) float64 {
	if l.head.Task == Regression {
		d := target.Bounded(value) - target.Bounded(y.At(j))
		return d * d
	}
	if y.Class == class {
		return 0
	}
	return 1
}

// linearPrediction returns the prediction of the linear baseline for its scores: a
// class, or the value of target j.
func (l *Learner) linearPrediction(f []float64, j int) (class int, value float64) {
	switch {
	case l.head.Task == Regression:
		u := l.head.Scales[j]
		return 0, target.Bounded(u.Mean + float64(u.Deviation*f[j]))
	case len(f) > 1:
		return Best(f), 0
	case f[0] > 0:
		return 1, 0
	}
	return 0, 0
}

// linearScores returns the number of scores of the linear baseline.
func (l *Learner) linearScores() int {
	if l.head.Task == Regression {
		return l.head.Targets()
	}
	return l.head.Scores()
}

// learnLinear has the linear baseline learn the pending rows.
func (l *Learner) learnLinear() {
	if l.head.Task == Novelty {
		return
	}
	p := &l.pending
	l.scratch.target = state.Extend(l.scratch.target[:0], l.linear.Targets)
	t := l.scratch.target
	for i, y := range p.Labels {
		for k := range t {
			switch {
			case l.head.Task == Regression:
				t[k] = l.head.Target(y, k)
			case y.Class == k && len(t) > 1 || y.Class == 1 && len(t) == 1:
				t[k] = 1
			default:
				t[k] = -1
			}
		}
		l.linear.Add(p.X[i*l.width():(i+1)*l.width()], t, p.Weights[i])
	}
	l.linear.End()
}
