package newton

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// lasting is what the leaves of a forest add to the mixture, learned from all rows since the trees
// grew and not only from those of the window. Its coefficients are those of a regression of the
// errors that the mixture makes, on rows that it predicted before it learned them. There is one set
// of coefficients for each of the rates, learned row by row: for numbers by normalised least mean
// squares (Widrow and Hoff 1960; Nagumo and Noda 1967), for classes by gradient descent. The scores
// fall into parts that have a loss each: for numbers each score is a part, for classes all scores
// together are one.
type lasting struct {
	coef []float64 // leaves × rates × scores
	loss []float64 // (none, rates) × parts: of the mixture alone and with each of them, decayed
	mix  []float64 // shares that predictions are made with, rates × parts

	added []float64 // rows × rates × scores: what the leaves of a mini-batch add
	f     []float64 // scores of the row under way without what its leaves add
	with  []float64 // with what they add at one of the rates
}

// lastingRates are the shares of the error of a number that a step takes away, and
// lastingClassRates the multiples of the gradient that a step takes for classes. Small rates
// average more rows and learn less from each: the losses decide. Chosen by trial: docs/forest.md.
var lastingRates, lastingClassRates = [...]float64{0.03, 0.12}, [...]float64{0.25, 1}

// lasts reports whether leaves have lasting coefficients.
func (w *newton) lasts() bool { return w.forest.trees != nil && w.lastsOnceGrown() }

// lastsOnceGrown reports whether leaves have lasting coefficients as soon as there are trees.
func (w *newton) lastsOnceGrown() bool {
	return w.Options.ForestLasting && (w.Head.Task == target.Regression || w.Options.LastingClasses && w.Head.Probabilities())
}

// beginLasting starts the lasting coefficients from 0, for new trees.
func (w *newton) beginLasting() {
	w.forest.lasting = lasting{}
	if w.lasts() {
		k, parts := w.Head.Scores(), w.lastingParts()
		w.forest.lasting = lasting{
			coef: make([]float64, w.forest.trees.Leaves()*len(lastingRates)*k),
			loss: make([]float64, (1+len(lastingRates))*parts),
			mix:  make([]float64, len(lastingRates)*parts),
		}
	}
}

// lastingParts returns the number of parts of the scores.
func (w *newton) lastingParts() int {
	if w.Head.Task == target.Regression {
		return w.Head.Scores()
	}
	return 1
}

// keepLasting discards the members with leaves, which have not paid, and keeps the trees for their
// lasting coefficients. At the last trial it discards the trees as well unless these coefficients
// pay. The trees grow again at lastingRows; trees of classes that lose their members only at the
// last trial grow again there.
func (w *newton) keepLasting(r regrowth) {
	all := w.regrowths()
	last := r.rows == all[len(all)-1].rows
	if !w.lasts() || last && !w.forest.lasting.pays() {
		w.discardForest()
		return
	}
	if len(w.forest.members) > 0 {
		w.withoutMembers()
	}
	if r.rows == lastingRows || last && w.Head.Probabilities() && w.forest.trees.Trees() > lastingTrees {
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
	// lastingRows is the number of rows, one of those of regrowths, at which trees without members
	// grow again.
	lastingRows = 5120

	// lastingTrees is the number of trees without members after they have grown again: with no
	// steps of members, all that they cost is in proportion to it. Chosen by trial.
	lastingTrees = 24
)

// pays reports whether lasting coefficients have lowered the losses so far, summed over the parts.
func (v *lasting) pays() bool {
	parts := v.parts()
	none, with := 0.0, 0.0
	for j := range parts {
		least := math.Inf(1)
		for c := parts + j; c < len(v.loss); c += parts {
			least = min(least, v.loss[c])
		}
		none, with = none+v.loss[j], with+least
	}
	return with < none
}

func (v *lasting) parts() int { return len(v.loss) / (1 + len(lastingRates)) }

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
	v.f = state.Extend(v.f[:0], k)
	now := make([]float64, size)
	for i, y := range p.Labels {
		v.without(p.Scores[i*columns:], v.added[i*size:(i+1)*size])
		l.addLasting(now, i, n)
		w.gradeLasting(now, y, p.Weights[i])
		l.stepLasting(now, i, n)
	}
}

// without sets f to scores without what the leaves add to them.
func (v *lasting) without(scores, added []float64) {
	k, parts := len(v.f), v.parts()
	each := parts / k // 1 if each score is a part, 0 if all scores are one
	for j := range v.f {
		v.f[j] = scores[j]
		for r := range lastingRates {
			v.f[j] -= float64(v.mix[r*parts+j*each] * added[r*k+j])
		}
	}
}

// gradeLasting adds the losses of a row with the label y to those so far. sum holds what the leaves
// add to the scores of the row, rates × scores; gradeLasting replaces it by the steps of these
// numbers, which are then divided among the leaves.
func (w *newton) gradeLasting(sum []float64, y target.Label, weight float64) {
	v := &w.forest.lasting
	k, parts, share := len(v.f), v.parts(), min(1, weight)
	add := func(c int, loss float64) {
		v.loss[c] = float64(v.loss[c]*lossDecay) + float64(weight*min(loss, maxGradedLoss))
	}
	if w.Head.Task == target.Regression {
		for j, f := range v.f {
			rest := w.target(y, j) - f
			add(j, rest*rest/2)
			for r, rate := range lastingRates {
				e := rest - sum[r*k+j]
				add((1+r)*parts+j, e*e/2)
				sum[r*k+j] = rate * share * max(-target.MaxResidual, min(target.MaxResidual, e))
			}
		}
		return
	}
	t, loss := w.target(y, 0), w.Head.LossOf(0)
	add(0, loss.Value(v.f, t))
	v.with = state.Extend(v.with[:0], k)
	for r, rate := range lastingClassRates {
		step := sum[r*k : (r+1)*k]
		for j, f := range v.f {
			v.with[j] = f + step[j]
		}
		add(1+r, loss.Value(v.with, t))
		loss.Grad(step, v.with, t)
		for j, g := range step {
			step[j] = -rate * share * g
		}
	}
}

// addLasting sets sum, rates × scores, to what the leaves of row i add, of the n rows for which
// leaves were found.
func (l *leaves) addLasting(sum []float64, i, n int) {
	clear(sum)
	for t := range l.trees.Trees() {
		leaf := int(l.numbers[t*n+i])
		for c, v := range l.lasting.coef[leaf*len(sum) : (leaf+1)*len(sum)] {
			sum[c] += v
		}
	}
}

// stepLasting changes the leaves of row i by equal shares of a step, rates × scores.
func (l *leaves) stepLasting(step []float64, i, n int) {
	v := &l.lasting
	for c := range step {
		step[c] /= float64(l.trees.Trees())
	}
	for t := range l.trees.Trees() {
		leaf := int(l.numbers[t*n+i])
		for c, u := range step {
			v.coef[leaf*len(step)+c] += u
		}
		if leaf < len(l.stale) {
			l.stale[leaf] = true
		}
	}
}

// share computes the shares that predictions are made with for a task, which follow the losses
// as those of the members do.
func (v *lasting) share(task target.Task) {
	if len(v.loss) == 0 {
		return
	}
	parts := v.parts()
	losses := make([]float64, 1+len(lastingRates))
	for j := range parts {
		for c := range losses {
			losses[c] = v.loss[c*parts+j]
		}
		mixture.Shares(losses, mixture.Temperature(task, slices.Min(losses), lossDecay))
		for r, share := range losses[1:] {
			v.mix[r*parts+j] = share
		}
	}
}

// serve adds the coefficients of the leaves [from, to) to those of the mixture of k scores among
// candidates, which have size numbers each.
func (v *lasting) serve(candidates []float32, from, to, size, k int) {
	if len(v.coef) == 0 {
		return
	}
	parts, own := v.parts(), len(lastingRates)*k
	each := parts / k // as in without
	for i := from; i < to; i++ {
		of, coef := candidates[i*size:][:k], v.coef[i*own:][:own]
		for j, f := range of {
			sum := float64(f)
			for r := range lastingRates {
				sum += float64(v.mix[r*parts+j*each] * coef[r*k+j])
			}
			of[j] = float32(sum)
		}
	}
}

// saveAlone writes whether the trees have no members, but only lasting coefficients.
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

// loadAlone reads what saveAlone wrote, for a State with that many rows in its window, with or
// without trees.
func (w *newton) loadAlone(s *state.Reader, rows int64, trees bool) bool {
	if !w.Options.ForestLasting {
		return false
	}
	alone := state.Take[int64](s, "lasting.alone", 1, 1)
	if s.Err != nil {
		return false
	}
	s.Require(alone[0] == 0 || alone[0] == 1 && trees && w.lastsOnceGrown() && rows >= int64(w.growsFrom()), "the trees are alone: %d", alone[0])
	return alone[0] == 1
}

// save writes v, of n leaves.
func (v *lasting) save(a *state.Arrays, n int) {
	if len(v.coef) > 0 {
		state.Put(a, "lasting.w", len(v.coef)/n, v.coef)
		state.Put(a, "lasting.loss", v.parts(), v.loss)
		state.Put(a, "lasting.shares", v.parts(), v.mix)
	}
}

// load reads what save wrote, of n leaves, k scores and some parts of them.
func (v *lasting) load(s *state.Reader, n, k, parts int) {
	v.coef = state.Take[float64](s, "lasting.w", n, len(lastingRates)*k)
	v.loss = state.Take[float64](s, "lasting.loss", 1+len(lastingRates), parts)
	v.mix = state.Take[float64](s, "lasting.shares", len(lastingRates), parts)
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
