package learner

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// ErrMerge is the error of models that cannot be merged.
var ErrMerge = errors.New("models cannot be merged")

// Merge adds to l what o has learned since base. l and o must have continued from base, restored
// from its State, with different rows. Afterwards l has the solution for the rows of all three, up
// to rounding, because the normal equations of ridge are sums over rows. One of ridge's members
// that forgets weights a row by the rows that came after it in its own stream. o and base are not
// changed. To merge more than two, merge them one after the other, with the same base.
//
// The error is ErrMerge unless all three are ridge with one Config, without lags, windows, balance,
// half-life, costs "f1", intervals, variances, a mixture and reactions to drift; base is past its
// warm-up, at the end of a mini-batch; and l and o have its columns, which are numeric, and the
// result of its warm-up. Class i must mean the same to all of them. The progressive validation and
// the drift detectors stay those of l.
func (l *Learner) Merge(o, base *Learner) error {
	if err := l.checkMerge(o, base); err != nil {
		return fmt.Errorf("%w: %w", ErrMerge, err)
	}
	total := func(l *Learner) []float64 {
		return append(slices.Clone(l.weights), make([]float64, max(0, o.head.Classes-l.head.Classes))...)
	}
	was, is := total(base), total(o)
	for l.head.Classes < o.head.Classes {
		l.weights = append(l.weights, 0)
		l.widen()
	}
	for i := range is {
		l.weights[i] += max(0, is[i]-was[i])
	}
	if added := o.total - base.total; added > 0 {
		for j, mean := range l.means {
			sum := float64(o.means[j]*o.total) - float64(base.means[j]*base.total)
			l.means[j] = target.Bounded((float64(mean*l.total) + sum) / (l.total + added))
		}
		l.total += added
	}

	l.linear.Merge(&o.linear, &base.linear)
	l.engine.(engine.Merger).Merge(o.engine, base.engine)
	l.labelled += (o.steps() - base.steps()) * int64(l.config.Minibatch)
	l.scorePending()
	for i, y := range o.pending.Labels {
		l.labelled++
		l.pending.X = append(l.pending.X, o.pending.X[i*o.dim:(i+1)*o.dim]...)
		l.pending.Labels = append(l.pending.Labels, y)
		l.pending.Weights = append(l.pending.Weights, o.pending.Weights[i])
		if len(l.pending.Labels) == l.config.Minibatch {
			l.scorePending()
			l.step()
		}
	}
	l.scorePending()
	return nil
}

func (l *Learner) checkMerge(o, base *Learner) error {
	switch {
	case !l.config.same(base.config) || !o.config.same(base.config):
		return errors.New("their options differ")
	case l.config.Lags > 0 || l.config.OnDrift != "none":
		return errors.New("their state depends on the order of rows: want no lags and no reaction to drift")
	case l.windows != nil:
		return errors.New("their windows depend on the order of rows: want none")
	case !l.weighing.None():
		return errors.New("how much their rows count depends on the order of rows: want no balance and no half-life")
	case l.config.Costs == costsF1:
		return errors.New("their decision rules depend on the order of rows: want no costs f1")
	case l.config.uncertainty().Any():
		return errors.New("their intervals and variances depend on the order of rows: want neither")
	case l.mixture != nil:
		return errors.New("their mixtures depend on the order of rows: want none")
	case base.warming() || len(base.pending.Labels) > 0:
		return fmt.Errorf("their base has learned %d rows: want a multiple of %d that is greater than %d", base.labelled, l.config.Minibatch, warmup.EffectiveAt(warmup.LastCheckpoint))
	case !canMerge(base.engine):
		return fmt.Errorf("algorithm %s has no normal equations: want ridge", l.config.Algorithm)
	case l.labelled < base.labelled || o.labelled < base.labelled:
		return fmt.Errorf("they have learned %d and %d rows, fewer than their base (%d)", l.labelled, o.labelled, base.labelled)
	case l.dim != base.dim || o.dim != base.dim || l.head.Task != base.head.Task || o.head.Task != base.head.Task:
		return errors.New("their columns or tasks differ")
	case base.fit.Encoding != nil:
		return errors.New("their columns are not all numeric, are seen as normal scores, or have missing values")
	case !reflect.DeepEqual(l.fit, base.fit) || !reflect.DeepEqual(o.fit, base.fit):
		return errors.New("the results of their warm-up differ")
	case l.head.Classes < base.head.Classes || o.head.Classes < base.head.Classes:
		return fmt.Errorf("they have %d and %d classes, fewer than their base (%d)", l.head.Classes, o.head.Classes, base.head.Classes)
	}
	return nil
}

func canMerge(e engine.Engine) bool {
	_, ok := e.(engine.Merger)
	return ok
}
