package descent

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// averagedSquares returns the weighted mean of the squared gradients in the scores of
// the average.
func (d *Engine) averagedSquares(p *engine.Minibatch) (squares float64) {
	k := d.Head.Scores()
	g := make([]float64, k)
	for i, y := range p.Labels {
		d.Head.Grad(g, p.Scores[(2*i+1)*k:(2*i+2)*k], y)
		for _, v := range g {
			v = max(-target.MaxResidual, min(target.MaxResidual, v))
			squares += float64(d.step.Shares[i] * float64(v*v))
		}
	}
	return squares
}

// gradient returns the gradient of the weighted mean loss in the scores of each row of p, and the
// weighted mean of its squares. It returns nil if all weights are 0, or the gradient is. It also
// sets what a direction needs to know of the mini-batch.
func (d *Engine) gradient(p *engine.Minibatch) (g []float64, squares float64) {
	k := d.Head.Scores()
	total := 0.0
	for _, w := range p.Weights {
		total += w
	}
	if total == 0 {
		return nil, 0
	}
	d.step.X = p.X
	d.step.Shares = d.step.Shares[:0]
	d.mean = state.Extend(d.mean[:0], k)
	clear(d.mean)
	d.step.Residuals = state.Extend(d.step.Residuals[:0], len(p.Labels)*k)
	g = d.step.Residuals
	d.step.Smoothness = d.Head.Loss.Smoothness()
	curved, ok := d.Head.Loss.(loss.Curved)
	if ok || math.IsInf(d.step.Smoothness, 1) {
		d.step.Smoothness = 1
	}
	for i, y := range p.Labels {
		row, f := g[i*k:(i+1)*k], p.Scores[2*i*k:2*i*k+k]
		d.Head.Grad(row, f, y)
		if ok {
			for j := range d.Head.Parts() {
				d.step.Smoothness = max(d.step.Smoothness, curved.Curvature(d.Head.Part(f, j)))
			}
		}
		share := p.Weights[i] / total
		d.step.Shares = append(d.step.Shares, share)
		for j, v := range row {
			v = max(-target.MaxResidual, min(target.MaxResidual, v))
			squares += float64(share * float64(v*v))
			row[j] = float64(share * v)
			d.mean[j] += row[j]
		}
	}
	d.step.Squares = squares
	if d.newton() {
		d.step.Averaged = d.averagedSquares(p)
	}
	if squares < minSquares {
		return nil, 0
	}
	return g, squares
}
