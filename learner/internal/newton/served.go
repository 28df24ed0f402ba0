package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// serve computes what predictions are made with.
func (w *newton) serve() {
	k, e, n := w.Head.Scores(), len(w.members), w.Head.Parts()
	mix, columns := w.mixture(), w.Columns()
	all := state.Extend(w.scratch.row[:0], columns-k) // of members and averages
	mixed := func(j int) float64 {
		sum := 0.0
		for m := range w.candidates() {
			sum += float64(mix[m*n+j*n/k] * all[m*k+j])
		}
		return sum
	}
	rows := len(w.coef) / (e * k)
	w.candidateCoef = state.Extend(w.candidateCoef[:0], rows*columns)
	for i := range rows {
		copy(all, w.coef[i*e*k:(i+1)*e*k])
		copy(all[e*k:], w.averageCoef[i*w.averaged*k:(i+1)*w.averaged*k])
		to := w.candidateCoef[i*columns : (i+1)*columns]
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
	copy(all[e*k:], w.averageIntercept)
	w.candidateIntercept = state.Extend(w.candidateIntercept[:0], columns)
	for j := range k {
		w.candidateIntercept[j] = mixed(j)
		w.candidateIntercept[j] += w.trackers.added(j, w.trackers.intercept())
	}
	copy(w.candidateIntercept[k:], all)
	w.scratch.row = all
	w.serveLeaves(mix)
}

// average moves the averages towards the members, as the polynomial-decay average
// of their iterates that remembers about averagingHorizon mini-batches.
func (w *newton) average() {
	w.batches++
	rho := max(1./averagingHorizon, engine.AverageShare(w.batches))
	k, e := w.Head.Scores(), len(w.members)
	for i := 0; i*e*k < len(w.coef); i++ {
		from, to := w.coef[i*e*k:], w.averageCoef[i*w.averaged*k:(i+1)*w.averaged*k]
		for j := range to {
			to[j] += float64(rho * (from[j] - to[j]))
		}
	}
	for j := range w.averageIntercept {
		w.averageIntercept[j] += float64(rho * (w.intercept[j] - w.averageIntercept[j]))
	}
	w.forest.average(rho)
}

// candidates returns the number of models that are mixed: members and averages.
func (w *newton) candidates() int { return len(w.members) + w.averaged }

// mixture returns the shares of the candidates in each target, candidates × targets.
func (w *newton) mixture() []float64 {
	n := w.Head.Parts()
	mix := state.Extend(w.scratch.mix[:0], len(w.loss))
	for j := range n {
		losses := w.scratch.losses[:0]
		for i := j; i < len(w.loss); i += n {
			losses = append(losses, w.loss[i])
		}
		mixture.Shares(losses, mixture.Temperature(w.Head.Task, slices.Min(losses), lossDecay))
		for i, share := range losses {
			mix[j+i*n] = share
		}
		w.scratch.losses = losses
	}
	w.scratch.mix = mix
	return mix
}
