package learner

// Drift says which detectors have noticed that a stream has changed: that the
// progressive loss has grown.
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
	adwin   adwin
	hinkley pageHinkley
	alarms  Drifts
	due     bool // a reaction, at the end of the mini-batch
}

func (d *detectors) add(surprise float64) (found Drift) {
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

func (d *detectors) save(a *arrays) {
	due := int64(0)
	if d.due {
		due = 1
	}
	put(a, "drifts", 3, []int64{d.alarms.ADWIN, d.alarms.PageHinkley, due})
	d.adwin.save(a)
	d.hinkley.save(a)
}

func (d *detectors) load(s *source, labelled int64) {
	v := take[int64](s, "drifts", 1, 3)
	d.adwin.load(s)
	d.hinkley.load(s)
	if s.err == nil {
		d.alarms, d.due = Drifts{v[0], v[1]}, v[2] == 1
		s.want(v[0] >= 0 && v[0] <= labelled && v[1] >= 0 && v[1] <= labelled && v[2]>>1 == 0, "drifts: %v", v)
	}
}
