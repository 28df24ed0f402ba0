package learner

import (
	"cmp"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// count counts a label, and reports whether its class is new to a model with a fit. The first label
// settles the task and the loss.
func (l *Learner) count(y Label, weight float64) (grown bool) {
	if task := cmp.Or(l.head.Task, l.config.Task); task != Auto && y.Task != task || y.Task < Auto || y.Task > Novelty {
		panic(fmt.Sprintf("learner: the label's task is %v, the model's is %v", y.Task, task))
	}
	if l.head.Task == Auto {
		suited, err := l.algorithm.LossOf(l.chosen, y.Task)
		if err != nil {
			panic("learner: " + err.Error()) // the configuration has been checked
		}
		l.head = target.NewHead(suited, y.Task, 0, l.head.Targets())
		if l.config.Mixture {
			l.mixture = l.newMixture()
		}
	}
	l.last = y
	l.total += weight
	if l.head.Task == Regression {
		for j, mean := range l.means {
			if l.labelled == 1 {
				l.means[j] = target.Bounded(y.At(j))
			} else if weight > 0 {
				l.means[j] += float64((target.Bounded(y.At(j)) - mean) * (weight / l.total))
			}
		}
		return false
	}
	if l.head.Task == Novelty {
		return false
	}
	if y.Class < 0 || y.Class >= l.config.MaxClasses {
		panic(fmt.Sprintf("learner: class %d is out of range: max_classes is %d", y.Class, l.config.MaxClasses))
	}
	for y.Class >= l.head.Classes {
		l.weights = append(l.weights, 0)
		l.widen()
		grown = l.fit != nil
	}
	l.weights[y.Class] += weight
	return grown
}

// setPrior sets the model to the mean of each target, or to the share of each class.
func (l *Learner) setPrior() {
	if l.head.Task == Regression {
		scales := make([]target.Scale, len(l.means))
		for j, mean := range l.means {
			scales[j] = target.Scale{Mean: mean, Deviation: 1}
		}
		l.head.Standardize(scales)
		l.priorIntercept = make([]float64, l.head.Scores())
		return
	}
	if l.head.Task == Novelty {
		l.priorIntercept = make([]float64, 1)
		return
	}
	l.priorIntercept = l.priors(l.priorIntercept[:0])
}

// priors appends the intercepts at which each class has its share of the rows so far.
func (l *Learner) priors(dst []float64) []float64 { return l.head.PriorScores(dst, l.weights, l.total) }

// startIntercepts returns the intercepts that an engine starts with once there is a fit.
func (l *Learner) startIntercepts() []float64 {
	if l.head.Task == Classification {
		return l.priors(nil)
	}
	return make([]float64, l.head.Scores())
}

// widen adds a class to the model.
func (l *Learner) widen() {
	l.head = l.head.WithNewClass()
	if l.mixture != nil {
		l.mixture.Widen(&l.head, l.total+float64(l.head.Classes))
	}
	if l.fit == nil {
		return
	}
	l.engine.Widen(l.head, l.priors(nil), l.total+float64(l.head.Classes))
	l.linear.Widen(l.linearScores())
}
