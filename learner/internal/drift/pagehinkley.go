package drift

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// PageHinkley adds up by how much numbers exceed their mean so far, and raises
// an alarm when that has risen far above the least it has been (Page 1954,
// Hinkley 1971). It counts in standard deviations of the numbers so far, so
// that one threshold fits numbers of any kind.
type PageHinkley struct {
	n, mean, squares float64 // squares: of the deviations from the mean
	sum, least       float64
}

const (
	hinkleyLeast     = 30  // numbers before the first alarm
	hinkleyTolerance = 0.1 // standard deviations that do not count
	hinkleyThreshold = 50  // standard deviations

	// A standard deviation counts as at least this, so that one large number after
	// many alike is no alarm.
	hinkleyLeastDeviation = 0.1
)

// Add adds v, and says whether the numbers have grown. If so, it starts anew.
func (p *PageHinkley) Add(v float64) (grown bool) {
	if p.n >= 2 && p.squares > 0 {
		p.sum += (v-p.mean)/max(hinkleyLeastDeviation, math.Sqrt(p.squares/p.n)) - hinkleyTolerance
		p.least = min(p.least, p.sum)
	}
	p.n++
	d := v - p.mean
	p.mean += d / p.n
	p.squares += float64(d * (v - p.mean))
	if p.n > hinkleyLeast && p.sum-p.least > hinkleyThreshold {
		*p = PageHinkley{}
		return true
	}
	return false
}

func (p *PageHinkley) Save(to *state.Arrays) {
	state.Put(to, "hinkley", 5, []float64{p.n, p.mean, p.squares, p.sum, p.least})
}

func (p *PageHinkley) Load(s *state.Reader) {
	v := state.Take[float64](s, "hinkley", 1, 5)
	if s.Err != nil {
		return
	}
	*p = PageHinkley{v[0], v[1], v[2], v[3], v[4]}
	s.Require(p.n >= 0 && p.squares >= 0 && p.least <= 0 && p.sum >= p.least, "hinkley: %v", v)
}
