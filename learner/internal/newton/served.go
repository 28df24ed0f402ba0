package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// serve sets what predictions are made with.
func (w *newton) serve() {
	k, e, n := w.Head.Scores(), len(w.members), w.Head.Targets()
	mix, columns := w.mixture(), w.Columns()
	all := state.Extend(w.scratch.row[:0], columns-k) // of members and averages
	mixed := func(j int) float64 {
		sum := 0.0
		for m := range w.candidates() {
			sum += float64(mix[m*n+j*n/k] * all[m*k+j])
		}
		return sum
	}
	rows := len(w.w) / (e * k)
	w.wide = state.Extend(w.wide[:0], rows*columns)
	for i := range rows {
		copy(all, w.w[i*e*k:(i+1)*e*k])
		copy(all[e*k:], w.mean[i*averages*k:(i+1)*averages*k])
		to := w.wide[i*columns : (i+1)*columns]
		for j := range k {
			v := mixed(j)
			if i < w.trackers.intercept() {
				v += w.trackers.added(j, i) / w.trackers.norm()
			}
			to[j] = float32(v)
		}
		for j, v := range all {
			to[k+j] = float32(v)
		}
	}
	copy(all, w.intercept)
	copy(all[e*k:], w.level)
	w.levels = state.Extend(w.levels[:0], columns)
	for j := range k {
		w.levels[j] = mixed(j)
		w.levels[j] += w.trackers.added(j, w.trackers.intercept())
	}
	copy(w.levels[k:], all)
	w.scratch.row = all
}

// horizon is the number of mini-batches that averages remember, about.
const horizon = 1000

// average moves the averages towards the members, as the average of an iterate
// in which mini-batch i counts about i³.
func (w *newton) average() {
	w.batches++
	rho := max(1./horizon, engine.AverageShare(w.batches))
	k, e := w.Head.Scores(), len(w.members)
	for i := 0; i*e*k < len(w.w); i++ {
		from, to := w.w[i*e*k:], w.mean[i*averages*k:(i+1)*averages*k]
		for j := range to {
			to[j] += float64(rho * (from[j] - to[j]))
		}
	}
	for j := range w.level {
		w.level[j] += float64(rho * (w.intercept[j] - w.level[j]))
	}
}

// candidates is how many models are mixed: members and averages.
func (w *newton) candidates() int { return len(w.members) + averages }

// mixture returns the weights of each member, one for each target.
func (w *newton) mixture() []float64 {
	n := w.Head.Targets()
	mix := state.Extend(w.scratch.mix[:0], len(w.loss))
	for j := range n {
		losses := w.scratch.losses[:0]
		for i := j; i < len(w.loss); i += n {
			losses = append(losses, w.loss[i])
		}
		mixture.Shares(losses, mixture.Temperature(w.Head.Task, slices.Min(losses), memory))
		for i, share := range losses {
			mix[j+i*n] = share
		}
		w.scratch.losses = losses
	}
	w.scratch.mix = mix
	return mix
}

// memory is the factor of the losses so far for each row.
const memory = 0.9999
