package drift

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// PageHinkley sums by how much numbers exceed their mean so far, and raises an alarm when the sum
// has risen far above its minimum (Page 1954, Hinkley 1971). The unit is the standard deviation of
// the numbers so far, so that one threshold is right for numbers of any scale.
type PageHinkley struct {
	n, mean, squares float64 // squares: sum of the squared deviations from the mean
	sum, least       float64
}

const (
	minNumbers = 30  // numbers before the first alarm, as in MOA
	tolerance  = 0.1 // tolerated excess, in standard deviations. Chosen by trial, see docs/constants.md
	threshold  = 50  // in standard deviations; the number is MOA's default

	// minDeviation bounds the standard deviation, so that one large number after many equal ones
	// does not cause an alarm. Chosen by trial, see docs/constants.md.
	minDeviation = 0.1
)

// Add adds v, and reports whether the numbers have grown. If they have, it starts again.
func (p *PageHinkley) Add(v float64) (grown bool) {
	if p.n >= 2 && p.squares > 0 {
		p.sum += (v-p.mean)/max(minDeviation, math.Sqrt(p.squares/p.n)) - tolerance
		p.least = min(p.least, p.sum)
	}
	p.n++
	d := v - p.mean
	p.mean += d / p.n
	p.squares += float64(d * (v - p.mean))
	if p.n > minNumbers && p.sum-p.least > threshold {
		*p = PageHinkley{}
		return true
	}
	return false
}

// Save writes the sums.
func (p *PageHinkley) Save(to *state.Arrays) {
	state.Put(to, "hinkley", 5, []float64{p.n, p.mean, p.squares, p.sum, p.least})
}

// Load reads what Save wrote.
func (p *PageHinkley) Load(s *state.Reader) {
	v := state.Take[float64](s, "hinkley", 1, 5)
	if s.Err != nil {
		return
	}
	*p = PageHinkley{v[0], v[1], v[2], v[3], v[4]}
	s.Require(p.n >= 0 && p.squares >= 0 && p.least <= 0 && p.sum >= p.least, "page-hinkley: invalid state %v", v)
}
