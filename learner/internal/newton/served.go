package newton

import (
	"math/bits"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// serve computes what predictions are made with.
func (w *newton) serve() { w.serveAfter(func(from, to int) {}) }

// serveAfter is serve, and calls average for every range [from, to) of features right before it
// reads their averages, which are then in the cache.
func (w *newton) serveAfter(average func(from, to int)) {
	w.mix = append(w.mix[:0], w.mixture()...)
	w.forest.lasting.share(w.Head.Task)
	w.serveAll(average)
}

// serveAll is serveAfter with the present shares.
func (w *newton) serveAll(average func(from, to int)) {
	size, columns := w.bank.Blocks()*2*w.Options.BlockSize, w.Columns()
	w.shareColumns()
	w.candidateCoef = state.Extend(w.candidateCoef[:0], size*columns)
	w.packed.Resize(size, columns)
	team := w.scratch.team
	team.Resize(w.servingCores(size * columns))
	team.Run(vec.Panels(size, servedTogether), func(_, task int) {
		from, to := task*servedTogether, min((task+1)*servedTogether, size)
		average(from, to)
		w.serveFeatures(from, to)
	})
	w.candidateIntercept = state.Extend(w.candidateIntercept[:0], columns)
	w.serveFirst()
	w.serveLeaves(w.mix)
}

// serveChanged is serve for the blocks and trees that have changed, with the present shares and
// averages.
func (w *newton) serveChanged() {
	if w.changed.all {
		w.serve()
		return
	}
	size := 2 * w.Options.BlockSize
	w.shareColumns()
	if now := w.bank.Blocks() * size * w.Columns(); len(w.candidateCoef) < now { // of new blocks
		w.candidateCoef = state.Extend(w.candidateCoef, now-len(w.candidateCoef))
	}
	for _, b := range w.changed.blocks {
		w.serveFeatures(b*size, (b+1)*size)
	}
	w.serveFirst()
}

// changes are what the steps of a mini-batch have changed.
type changes struct {
	blocks []int
	all    bool // whether more than blocks and trees have changed
}

// shareColumns computes the shares of the columns of members and averages in the mixture.
func (w *newton) shareColumns() {
	k, n := w.Head.Scores(), w.Head.Parts()
	shares := state.Extend(w.scratch.shares[:0], w.Columns()-k)
	for c := range shares {
		shares[c] = w.mix[c/k*n+c%k*n/k]
	}
	w.scratch.shares = shares
}

// serveFeatures computes the candidates of the features [from, to).
func (w *newton) serveFeatures(from, to int) {
	k, e, columns := w.Head.Scores(), len(w.members), w.Columns()
	own, averages := e*k, w.averaged*k
	vec.MixRows(w.candidateCoef[from*columns:to*columns], w.coef[from*own:to*own], w.averageCoef[from*averages:to*averages], w.scratch.shares, k, e, w.averaged)
	w.packed.Set(w.candidateCoef, from, to, columns)
}

// serveFirst computes the candidates of the features that trackers have, and the intercepts.
func (w *newton) serveFirst() {
	k, columns, shares := w.Head.Scores(), w.Columns(), w.scratch.shares
	own, averages := len(w.members)*k, w.averaged*k
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
	tracked := min(len(w.coef)/own, w.trackers.intercept())
	for i := range tracked {
		for j := range k {
			v := mixed(j, w.coef[i*own:(i+1)*own], w.averageCoef[i*averages:(i+1)*averages])
			v += w.trackers.added(j, i) / w.trackers.norm()
			w.candidateCoef[i*columns+j] = float32(v)
		}
	}
	w.packed.Set(w.candidateCoef, 0, tracked, columns)
	for j := range k {
		w.candidateIntercept[j] = mixed(j, w.intercept, w.averageIntercept)
		w.candidateIntercept[j] += w.trackers.added(j, w.trackers.intercept())
	}
	copy(w.candidateIntercept[k:], w.intercept)
	copy(w.candidateIntercept[k+own:], w.averageIntercept)
}

// servedTogether is the number of coefficients of a score whose averages are computed and read
// together. Those of many members and classes fit into a cache of 256 KiB. It is a number of whole
// panels, so that cores can pack them at the same time.
const servedTogether = 3 * 2 * vec.Panel

// servedPerCore is the number of coefficients that justify another core: to serve them takes about
// a tenth of a millisecond.
const servedPerCore = 1 << 16

// servingCores returns the number of cores that the computation of that many coefficients justifies.
func (w *newton) servingCores(coefficients int) int {
	if w.alone {
		return 1
	}
	return coefficients / servedPerCore
}

// averageAndServe moves the averages towards the members, as the polynomial-decay average
// of their iterates that remembers about averagingHorizon mini-batches, and computes what
// predictions are made with.
func (w *newton) averageAndServe() {
	w.batches++
	every := w.servedEvery()
	if w.batches%every != 0 {
		w.serveChanged()
		return
	}
	rho := min(1, float64(every)*max(1./averagingHorizon, engine.AverageShare(w.batches)))
	own, averages := w.Head.Scores()*len(w.members), w.Head.Scores()*w.averaged
	vec.Towards(w.averageIntercept, w.intercept, rho)
	w.forest.average(rho)
	w.serveAfter(func(from, to int) {
		if averages > 0 {
			vec.TowardsRows(w.averageCoef[from*averages:to*averages], w.coef[from*own:to*own], averages, own, rho)
		}
	})
}

// servedRows is the number of rows after which the averages and the shares of the mixture change. A
// mini-batch changes only a block or two, and to average and mix all blocks would take as long as
// the step. While the window grows they change more often: after its rows divided by servedPart.
// Chosen by trial.
const servedRows, servedPart = 128, 16

// servedEvery returns the number of mini-batches after which the averages and the shares of the
// mixture change. While the window grows it is a power of two, so that they do not change late when
// this number grows.
func (w *newton) servedEvery() int64 {
	rows := servedRows
	switch {
	case !w.Options.Lean:
		return 1
	case w.window.rows < w.length:
		rows = min(rows, w.window.rows/servedPart)
		return 1 << max(0, bits.Len(uint(rows/w.Options.Minibatch))-1)
	}
	return int64(max(1, rows/w.Options.Minibatch))
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

// AddServed implements Machine.
func (w *newton) AddServed(sum, shares []float64) []float64 {
	k, columns := w.Head.Scores(), w.Columns()
	for len(sum) < len(w.candidateCoef)/columns*k {
		sum = append(sum, 0)
	}
	shares = shares[:k]
	for i, to := 0, sum; i < len(w.candidateCoef); i, to = i+columns, to[k:] {
		to := to[:k]
		for c, v := range w.candidateCoef[i : i+k] {
			to[c] += float64(shares[c] * float64(v))
		}
	}
	return sum
}

// ServedIntercept implements Machine.
func (w *newton) ServedIntercept(c int) float64 { return w.candidateIntercept[c] }
