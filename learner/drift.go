package learner

import "fmt"

// Drift says which detectors have noticed that a stream has changed: that the
// progressive loss has grown.
type Drift uint8

const (
	DriftADWIN       Drift = 1 << iota // Bifet and Gavaldà 2007
	DriftPageHinkley                   // Page 1954
)

// Drifts are how often the detectors have raised an alarm so far.
type Drifts struct{ ADWIN, PageHinkley int64 }

// drift watches the loss of rows before they are learned. What it looks at is
// between 0 and 1, so that no single row can raise an alarm: 1 minus the
// probability of the class, or e²/(1+e²) where a prediction is off by e
// standard deviations of the label.
type drift struct {
	adwin   adwin
	hinkley pageHinkley
	alarms  Drifts
	due     bool // a reaction, at the end of the mini-batch
}

func (d *drift) add(surprise float64) (found Drift) {
	if d.adwin.add(surprise) {
		found |= DriftADWIN
		d.alarms.ADWIN++
	}
	if d.hinkley.add(surprise) {
		found |= DriftPageHinkley
		d.alarms.PageHinkley++
	}
	return found
}

// surprise returns how far off the prediction p was, in the mean over the targets.
func (h *head) surprise(p []float64, y Label) float64 {
	if h.task == Regression {
		sum := 0.0
		for j, u := range h.units {
			e := min((bounded(y.At(j))-p[j])/u.deviation, 1e6)
			sum += 1 - 1/(1+float64(max(e, -1e6)*max(e, -1e6)))
		}
		return sum / float64(len(h.units))
	}
	if y.Class >= len(p) {
		return 1
	}
	return max(0, min(1, 1-p[y.Class]))
}

// A reaction is what a learner does about drift, at the end of the mini-batch in
// which it was noticed.
type reaction int

const (
	reactNone   reaction = iota
	reactBoost           // go as far with each step as at first
	reactForget          // and give what was learned half its weight or less
	reactReset           // begin anew, with the scale that the warm-up found
)

var reactions = [...]string{"none", "boost", "forget", "reset"}

func parseReaction(s string) (reaction, error) {
	for i, name := range reactions {
		if s == name {
			return reaction(i), nil
		}
	}
	return 0, fmt.Errorf("no reaction to drift is named %q: want one of %v", s, reactions)
}

// A reactor is an engine that can do something about drift besides beginning
// anew, which is what the others do instead.
type reactor interface{ react(reaction) }

// react does what the configuration wants done about drift.
func (l *Learner) react() {
	l.drift.due = false
	if l.reaction == reactNone {
		return
	}
	if e, ok := l.engine.(reactor); ok && l.reaction != reactReset {
		e.react(l.reaction)
	} else {
		prior := make([]float64, l.sums())
		if l.task == Classification {
			prior = l.priors(prior[:0])
		}
		l.engine = l.algorithm.new(l.problem(prior))
	}
	l.forecast() // the pending rows are learned next
}

func (d *drift) save(a *arrays) {
	due := int64(0)
	if d.due {
		due = 1
	}
	put(a, "drifts", 3, []int64{d.alarms.ADWIN, d.alarms.PageHinkley, due})
	d.adwin.save(a)
	d.hinkley.save(a)
}

func (d *drift) load(s *source, labelled int64) {
	v := take[int64](s, "drifts", 1, 3)
	d.adwin.load(s)
	d.hinkley.load(s)
	if s.err == nil {
		d.alarms, d.due = Drifts{v[0], v[1]}, v[2] == 1
		s.want(v[0] >= 0 && v[0] <= labelled && v[1] >= 0 && v[1] <= labelled && v[2]>>1 == 0, "drifts: %v", v)
	}
}
