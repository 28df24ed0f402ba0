package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// serve computes what predictions are made with.
func (w *newton) serve() { w.serveAfter(func(from, to int) {}) }

// serveAfter is serve that has the averages of the features [from, to) computed right
// before they are read, while they are in the cache.
func (w *newton) serveAfter(average func(from, to int)) {
	k, e, n := w.Head.Scores(), len(w.members), w.Head.Parts()
	mix, columns := w.mixture(), w.Columns()
	own, averages := e*k, w.averaged*k
	shares := state.Extend(w.scratch.shares[:0], columns-k)
	for c := range shares {
		shares[c] = mix[c/k*n+c%k*n/k]
	}
	mixed := func(j int, members, averages []float64) float64 {
		sum := 0.0
		for c := j; c < len(members); c += k {
			sum += float64(shares[c] * members[c])
		}
		for c := j; c < len(averages); c += k {
			sum += float64(shares[own+c] * averages[c])
		}
		return sum
	}
	size := len(w.coef) / own
	w.candidateCoef = state.Extend(w.candidateCoef[:0], size*columns)
	for from := 0; from < size; from += servedTogether {
		to := min(from+servedTogether, size)
		average(from, to)
		vec.MixRows(w.candidateCoef[from*columns:to*columns], w.coef[from*own:to*own], w.averageCoef[from*averages:to*averages], shares, k, e, w.averaged)
	}
	for i := range min(len(w.coef)/own, w.trackers.intercept()) {
		for j := range k {
			v := mixed(j, w.coef[i*own:(i+1)*own], w.averageCoef[i*averages:(i+1)*averages])
			v += w.trackers.added(j, i) / w.trackers.norm()
			w.candidateCoef[i*columns+j] = float32(v)
		}
	}
	w.candidateIntercept = state.Extend(w.candidateIntercept[:0], columns)
	for j := range k {
		w.candidateIntercept[j] = mixed(j, w.intercept, w.averageIntercept)
		w.candidateIntercept[j] += w.trackers.added(j, w.trackers.intercept())
	}
	copy(w.candidateIntercept[k:], w.intercept)
	copy(w.candidateIntercept[k+own:], w.averageIntercept)
	w.scratch.shares = shares
	w.serveLeaves(mix)
}

// servedTogether is the number of coefficients of a score whose averages are computed and
// read together: those of many members and classes fit into a cache of 256 KiB.
const servedTogether = 64

// averageAndServe moves the averages towards the members, as the polynomial-decay average
// of their iterates that remembers about averagingHorizon mini-batches, and computes what
// predictions are made with.
func (w *newton) averageAndServe() {
	w.batches++
	rho := max(1./averagingHorizon, engine.AverageShare(w.batches))
	own, averages := w.Head.Scores()*len(w.members), w.Head.Scores()*w.averaged
	vec.Towards(w.averageIntercept, w.intercept, rho)
	w.forest.average(rho)
	w.serveAfter(func(from, to int) {
		if averages > 0 {
			vec.TowardsRows(w.averageCoef[from*averages:to*averages], w.coef[from*own:to*own], averages, own, rho)
		}
	})
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
