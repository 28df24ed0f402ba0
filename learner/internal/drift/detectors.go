package drift

import "github.com/accrete-ml/accrete/learner/internal/state"

// Drift is a set of detectors that have raised an alarm because the progressive loss
// has grown.
type Drift uint8

// The detectors.
const (
	ByADWIN       Drift = 1 << iota // Bifet and Gavaldà 2007
	ByPageHinkley                   // Page 1954
)

// Drifts counts the alarms of each detector so far.
type Drifts struct{ ADWIN, PageHinkley int64 }

// Detectors watch the loss of rows before they are learned. The loss they watch is between 0 and 1,
// so that no single row can raise an alarm: it is 1 minus the probability of the class, or
// e²/(1+e²) for a prediction that is off by e standard deviations of the label.
type Detectors struct {
	Alarms Drifts
	Due    bool // a reaction is due at the end of the mini-batch

	adwin   ADWIN
	hinkley PageHinkley
}

// Add adds the loss of a row, and returns the detectors that raise an alarm.
func (d *Detectors) Add(surprise float64) (found Drift) {
	if d.adwin.Add(surprise) {
		found |= ByADWIN
		d.Alarms.ADWIN++
	}
	if d.hinkley.Add(surprise) {
		found |= ByPageHinkley
		d.Alarms.PageHinkley++
	}
	return found
}

// Save adds the detectors to the arrays of a state.
func (d *Detectors) Save(a *state.Arrays) {
	due := int64(0)
	if d.Due {
		due = 1
	}
	state.Put(a, "drifts", 3, []int64{d.Alarms.ADWIN, d.Alarms.PageHinkley, due})
	d.adwin.Save(a)
	d.hinkley.Save(a)
}

// Load reads what Save wrote for a learner that has learned that many labelled rows.
func (d *Detectors) Load(s *state.Reader, labelled int64) {
	v := state.Take[int64](s, "drifts", 1, 3)
	d.adwin.Load(s)
	d.hinkley.Load(s)
	if s.Err == nil {
		d.Alarms, d.Due = Drifts{v[0], v[1]}, v[2] == 1
		s.Require(v[0] >= 0 && v[0] <= labelled && v[1] >= 0 && v[1] <= labelled && v[2]>>1 == 0, "drift counts are %v", v)
	}
}
