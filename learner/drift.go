package learner

import (
	"github.com/accrete-ml/accrete/learner/internal/drift"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Drift is a set of detectors that have raised an alarm because the progressive loss
// has grown.
type Drift uint8

const (
	DriftADWIN       Drift = 1 << iota // Bifet and Gavaldà 2007
	DriftPageHinkley                   // Page 1954
)

// Drifts are how often the detectors have raised an alarm so far.
type Drifts struct{ ADWIN, PageHinkley int64 }

// detectors watch the loss of rows before they are learned. What it looks at is
// between 0 and 1, so that no single row can raise an alarm: 1 minus the
// probability of the class, or e²/(1+e²) where a prediction is off by e
// standard deviations of the label.
type detectors struct {
	adwin   drift.ADWIN
	hinkley drift.PageHinkley
	alarms  Drifts
	due     bool // a reaction, at the end of the mini-batch
}

func (d *detectors) add(surprise float64) (found Drift) {
	if d.adwin.Add(surprise) {
		found |= DriftADWIN
		d.alarms.ADWIN++
	}
	if d.hinkley.Add(surprise) {
		found |= DriftPageHinkley
		d.alarms.PageHinkley++
	}
	return found
}

// React does what the configuration wants done about drift.
func (l *Learner) React() {
	l.drift.due = false
	if l.reaction == engine.ReactNone {
		return
	}
	if e, ok := l.engine.(engine.Reactor); ok && l.reaction != engine.ReactReset {
		e.React(l.reaction)
	} else {
		prior := make([]float64, l.head.Scores())
		if l.head.Task == Classification {
			prior = l.priors(prior[:0])
		}
		l.engine = l.algorithm.New(l.problem(prior))
	}
	if l.posterior != nil {
		l.posterior.Forget(forgetPosterior)
	}
	l.scorePending() // the pending rows are learned next
}

func (d *detectors) save(a *state.Arrays) {
	due := int64(0)
	if d.due {
		due = 1
	}
	state.Put(a, "drifts", 3, []int64{d.alarms.ADWIN, d.alarms.PageHinkley, due})
	d.adwin.Save(a)
	d.hinkley.Save(a)
}

func (d *detectors) load(s *state.Reader, labelled int64) {
	v := state.Take[int64](s, "drifts", 1, 3)
	d.adwin.Load(s)
	d.hinkley.Load(s)
	if s.Err == nil {
		d.alarms, d.due = Drifts{v[0], v[1]}, v[2] == 1
		s.Require(v[0] >= 0 && v[0] <= labelled && v[1] >= 0 && v[1] <= labelled && v[2]>>1 == 0, "drift counts are %v", v)
	}
}
