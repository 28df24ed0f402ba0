package newton

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// lasting is what the leaves of a forest add to the mixture, from all rows since the trees grew
// and not only from those of the window: the coefficients of a regression of what the mixture
// leaves of the labels, with rows that it has predicted before it learned them. There is one
// for each of lastingRates, learned row by row by normalised least mean squares (Widrow and
// Hoff 1960; Nagumo and Noda 1967).
type lasting struct {
	coef []float64 // leaves × rates × scores
	loss []float64 // (none, rates) × scores: of the mixture alone and with each of them, decayed
	mix  []float64 // shares that predictions are made with, rates × scores

	added []float64 // rows × rates × scores: what the leaves of a mini-batch add
	rest  []float64 // of each score: that of the row under way
}

// lastingRates are the parts of what is left of a row that a step takes away. Small ones average
// more rows and learn less from each: the losses decide. Chosen by trial: docs/forest.md.
var lastingRates = [...]float64{0.03, 0.12}

// lasts reports whether leaves have lasting coefficients.
func (w *newton) lasts() bool {
	return w.Options.ForestLasting && w.forest.trees != nil && w.Head.Task == target.Regression
}

// beginLasting has them begin with new trees.
func (w *newton) beginLasting() {
	w.forest.lasting = lasting{}
	if w.lasts() {
		k := w.Head.Scores()
		w.forest.lasting = lasting{
			coef: make([]float64, w.forest.trees.Leaves()*len(lastingRates)*k),
			loss: make([]float64, (1+len(lastingRates))*k),
			mix:  make([]float64, len(lastingRates)*k),
		}
	}
}

// keepLasting discards the members with leaves, which have not paid, and keeps the trees for their
// lasting coefficients, if these pay at the last trial. They grow again at lastingRows.
func (w *newton) keepLasting(r regrowth) {
	last := r.rows == regrowths[len(regrowths)-1].rows
	if !w.lasts() || last && !w.forest.lasting.pays() {
		w.discardForest()
		return
	}
	if len(w.forest.members) > 0 {
		w.withoutMembers()
	}
	if r.rows == lastingRows {
		w.forest.scored = w.forest.scored[:0]
		w.plant(w.regrown(r.rows, min(w.Options.Forest, lastingTrees)))
		w.beginLasting()
	}
}

// withoutMembers discards the members with leaves, but not the trees.
func (w *newton) withoutMembers() {
	before := w.forest
	w.discardForest()
	l := &w.forest
	l.trees, l.of, l.pairs, l.lasting, l.scored, l.numbers = before.trees, before.of, before.pairs, before.lasting, before.scored, before.numbers
}

const (
	// lastingRows is the one of regrowths at which trees without members grow again.
	lastingRows = 5120

	// lastingTrees is the number of those that grow then: without steps of members, all that
	// they cost is in proportion to it. Chosen by trial.
	lastingTrees = 24
)

// pays reports whether lasting coefficients lower the losses so far, in the sum of the targets.
func (v *lasting) pays() bool {
	k := len(v.loss) / (1 + len(lastingRates))
	none, with := 0.0, 0.0
	for j := range k {
		least := math.Inf(1)
		for c := k + j; c < len(v.loss); c += k {
			least = min(least, v.loss[c])
		}
		none, with = none+v.loss[j], with+least
	}
	return with < none
}

// learnLasting learns the rows of p, whose scores are those of the model as it is.
func (w *newton) learnLasting(p *engine.Minibatch) {
	if !w.lasts() {
		return
	}
	l, k, columns, n := &w.forest, w.Head.Scores(), w.Columns(), len(p.Labels)
	v, size := &l.lasting, len(lastingRates)*k
	l.find(p.X)
	v.added = state.Extend(v.added[:0], n*size)
	for i := range n {
		l.addLasting(v.added[i*size:(i+1)*size], i, n)
	}
	v.rest = state.Extend(v.rest[:0], k)
	now := make([]float64, size)
	for i, y := range p.Labels {
		for j := range k {
			f := p.Scores[i*columns+j]
			for r := range lastingRates {
				f -= float64(v.mix[r*k+j] * v.added[i*size+r*k+j])
			}
			v.rest[j] = w.target(y, j) - f
		}
		l.addLasting(now, i, n)
		v.grade(now, p.Weights[i])
		l.stepLasting(now, i, n, min(1, p.Weights[i]))
	}
}

// addLasting sets sum, rates × scores, to what the leaves of row i of the n that were found add.
func (l *leaves) addLasting(sum []float64, i, n int) {
	clear(sum)
	for t := range l.trees.Trees() {
		leaf := int(l.numbers[t*n+i])
		for c, v := range l.lasting.coef[leaf*len(sum) : (leaf+1)*len(sum)] {
			sum[c] += v
		}
	}
}

// stepLasting changes the leaves of that row, by a share of what is left with each of the rates.
func (l *leaves) stepLasting(sum []float64, i, n int, share float64) {
	v := &l.lasting
	k := len(v.rest)
	for r, rate := range lastingRates {
		for j, rest := range v.rest {
			rest = max(-target.MaxResidual, min(target.MaxResidual, rest-sum[r*k+j]))
			sum[r*k+j] = rate * share * rest / float64(l.trees.Trees())
		}
	}
	for t := range l.trees.Trees() {
		leaf := int(l.numbers[t*n+i])
		for c, step := range sum {
			v.coef[leaf*len(sum)+c] += step
		}
		if leaf < len(l.stale) {
			l.stale[leaf] = true
		}
	}
}

// grade adds the losses of a row, of which the mixture leaves rest, to those so far.
func (v *lasting) grade(sum []float64, weight float64) {
	k := len(v.rest)
	for c := range v.loss {
		e := v.rest[c%k]
		if c >= k {
			e -= sum[c-k]
		}
		v.loss[c] = float64(v.loss[c]*lossDecay) + float64(weight*min(e*e/2, maxGradedLoss))
	}
}

// share computes the shares that predictions are made with, which follow the losses as those of
// the members do.
func (v *lasting) share() {
	if len(v.loss) == 0 {
		return
	}
	k := len(v.loss) / (1 + len(lastingRates))
	losses := make([]float64, 1+len(lastingRates))
	for j := range k {
		for c := range losses {
			losses[c] = v.loss[c*k+j]
		}
		mixture.Shares(losses, mixture.Temperature(target.Regression, slices.Min(losses), lossDecay))
		for r, share := range losses[1:] {
			v.mix[r*k+j] = share
		}
	}
}

// serve adds the coefficients of the leaves [from, to) to those of the mixture among candidates,
// which have size numbers each.
func (v *lasting) serve(candidates []float32, from, to, size int) {
	if len(v.coef) == 0 {
		return
	}
	k, own := len(v.mix)/len(lastingRates), len(v.mix)
	for i := from; i < to; i++ {
		of, coef := candidates[i*size:i*size+k], v.coef[i*own:(i+1)*own]
		for j, f := range of {
			sum := float64(f)
			for c := j; c < own; c += k {
				sum += float64(v.mix[c] * coef[c])
			}
			of[j] = float32(sum)
		}
	}
}

// saveAlone writes whether the trees have no members, but lasting coefficients alone.
func (w *newton) saveAlone(a *state.Arrays) {
	if !w.Options.ForestLasting {
		return
	}
	alone := int64(0)
	if w.forest.trees != nil && len(w.forest.members) == 0 {
		alone = 1
	}
	state.Put(a, "lasting.alone", 1, []int64{alone})
}

// loadAlone reads what saveAlone wrote, of a window of some rows and a model with trees or not.
func (w *newton) loadAlone(s *state.Reader, rows int64, trees bool) bool {
	if !w.Options.ForestLasting {
		return false
	}
	alone := state.Take[int64](s, "lasting.alone", 1, 1)
	if s.Err != nil {
		return false
	}
	s.Require(alone[0] == 0 || alone[0] == 1 && trees && w.Head.Task == target.Regression && rows >= growRows, "the trees are alone: %d", alone[0])
	return alone[0] == 1
}

// save writes v, of n leaves.
func (v *lasting) save(a *state.Arrays, n int) {
	if len(v.coef) > 0 {
		state.Put(a, "lasting.w", len(v.coef)/n, v.coef)
		state.Put(a, "lasting.loss", len(v.loss)/(1+len(lastingRates)), v.loss)
		state.Put(a, "lasting.shares", len(v.mix)/len(lastingRates), v.mix)
	}
}

// load reads what save wrote, of n leaves and k scores.
func (v *lasting) load(s *state.Reader, n, k int) {
	v.coef = state.Take[float64](s, "lasting.w", n, len(lastingRates)*k)
	v.loss = state.Take[float64](s, "lasting.loss", 1+len(lastingRates), k)
	v.mix = state.Take[float64](s, "lasting.shares", len(lastingRates), k)
	for _, c := range v.coef {
		s.Require(math.Abs(c) < engine.MaxCoefficient/10, "a lasting coefficient of a leaf is %v", c)
	}
	for _, l := range v.loss {
		s.Require(l >= 0, "a loss with lasting coefficients is %v", l)
	}
	for _, share := range v.mix {
		s.Require(share >= 0 && share <= 1, "the share of lasting coefficients is %v", share)
	}
}
