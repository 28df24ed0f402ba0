package descent

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// coefficients are those of all features, a row for each cosine and each sine and a
// column for each score, twice: the iterate w and its average over the steps. Neither
// is stored as it is, so that shrinking and averaging all of w takes no time where
// nothing else changes:
//
//	w = shrink · u
//	average = q · (v + p·u)
type coefficients struct {
	scores       int
	u, v         []float64
	shrink, q, p float64
	Steps        int64
	since        int64 // step after which the average began
}

func newCoefficients(scores int) coefficients {
	return coefficients{scores: scores, shrink: 1, q: 1}
}

// grow adds n rows of zeros.
func (c *coefficients) grow(n int) {
	c.u = append(c.u, make([]float64, n*c.scores)...)
	c.v = append(c.v, make([]float64, n*c.scores)...)
}

// The scalars are folded into the vectors beyond these, long before they lose
// precision.
const (
	minShrink = 0.5
	maxScalar = 1e100
)

// scale multiplies w by r, which is in (0, 1].
func (c *coefficients) scale(r float64) {
	c.shrink *= r
	if c.shrink < minShrink {
		c.fold()
	}
}

// add adds rate·d to w from row first on.
func (c *coefficients) add(first int, rate float64, d []float64) {
	rate /= c.shrink
	u, v := c.u[first*c.scores:], c.v[first*c.scores:]
	for i, d := range d {
		d = float64(d * rate)
		u[i] += d
		v[i] -= float64(c.p * d)
	}
}

// average ends a step: it moves the average towards w by ρ = (η+1)/(t+η), or by 1/t
// if it is uniform, and returns ρ.
func (c *coefficients) average(uniform bool) float64 {
	c.Steps++
	n := c.Steps - c.since
	rho := engine.AverageShare(n)
	if uniform {
		rho = 1 / float64(n)
	}
	if n == 1 {
		clear(c.v)
		c.q, c.p = 1, c.shrink // the average of one step is its iterate
		return rho
	}
	c.q *= 1 - rho
	c.p += rho * c.shrink / c.q
	if c.p > maxScalar {
		c.fold()
	}
	return rho
}

// fold multiplies the scalars into the vectors. Without it, changes of w after much
// shrinking would be so large in u and v that their sum would lose its precision.
func (c *coefficients) fold() {
	for i, u := range c.u {
		c.v[i] = c.q * (c.v[i] + float64(c.p*u))
		c.u[i] = c.shrink * u
	}
	c.shrink, c.q, c.p = 1, 1, 0
}

// serve sets dst to the float32 values that predictions are made with: for each row
// the scores of w and then those of the average.
func (c *coefficients) serve(dst []float32) {
	k := c.scores
	for i := 0; i < len(c.u); i += k {
		row := dst[2*i : 2*i+2*k : 2*i+2*k]
		for j, u := range c.u[i : i+k] {
			row[j] = float32(c.shrink * u)
			row[k+j] = float32(c.q * (c.v[i+j] + float64(c.p*u)))
		}
	}
}

// widen adds a score, of zeros, for the new head h.
func (c *coefficients) widen(h *target.Head, from int) {
	c.u, c.v = h.Widen(c.u, from), h.Widen(c.v, from)
	c.scores = h.Scores()
}
