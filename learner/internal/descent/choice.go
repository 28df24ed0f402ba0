package descent

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// ChoiceRows is the number of rows by whose loss it is decided whether the
// iterate or its average serves. An average is better while the stream stays
// as it is, and far worse after it has changed.
const ChoiceRows = 2000

// choice remembers by how much the iterate's loss exceeded the average's.
type choice struct {
	excess [ChoiceRows]float64 // a ring, weighted
	at     int                 // the next to be overwritten
}

func (c *choice) add(excess float64) {
	c.excess[c.at] = excess
	c.at = (c.at + 1) % ChoiceRows
}

// average says whether the average was the better one. It adds up from the
// same end each time, so that what it says does not depend on sums before.
func (c *choice) average() bool {
	sum := 0.0
	for _, e := range c.excess {
		sum += e
	}
	return sum > 0
}

// choose grades the iterate and the average on the pending rows, before they
// are learned, and decides which of them serves from now on.
func (d *Engine) choose(p *engine.Minibatch) {
	k := d.Head.Scores()
	for i, y := range p.Labels {
		f := p.Scores[2*i*k : 2*(i+1)*k]
		d.choice.add(p.Weights[i] * (d.Head.Value(f[:k], y) - d.Head.Value(f[k:], y)))
	}
	d.averaged = d.choice.average()
}
