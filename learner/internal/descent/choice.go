package descent

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// ChoiceRows is the number of recent rows on which the losses of the iterate and of its average are
// compared, to choose the one that predicts. The average is better while the stream is stationary,
// and much worse after a change. Chosen by trial, see docs/constants.md.
const ChoiceRows = 2000

// choice keeps the differences of the losses of the iterate and of the average.
type choice struct {
	excess [ChoiceRows]float64 // a ring, weighted
	at     int                 // the next to be overwritten
}

func (c *choice) add(excess float64) {
	c.excess[c.at] = excess
	c.at = (c.at + 1) % ChoiceRows
}

// average reports whether the average had the lower loss. It adds up all differences
// each time, so that the rounding does not depend on earlier sums.
func (c *choice) average() bool {
	sum := 0.0
	for _, e := range c.excess {
		sum += e
	}
	return sum > 0
}

// choose adds the losses of the iterate and of the average on the rows of p, before
// they are learned, and decides which of them serves.
func (d *Engine) choose(p *engine.Minibatch) {
	k := d.Head.Scores()
	for i, y := range p.Labels {
		f := p.Scores[2*i*k : 2*(i+1)*k]
		d.choice.add(p.Weights[i] * (d.Head.Value(f[:k], y) - d.Head.Value(f[k:], y)))
	}
	switch d.Options.Averaging {
	case "none":
		d.averaged = false
	case "":
		d.averaged = d.choice.average()
	default:
		d.averaged = d.Coef.Steps > 0
	}
}
