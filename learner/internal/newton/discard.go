package newton

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// discards are the numbers of rows in the window at which members that do not pay are discarded.
// Only members that learn from the whole window are: the others follow changes, which may yet come.
// Before the last number of rows, members with a smaller penalty than the best one stay, because
// they become better with more rows. Chosen by trial.
var discards = [...]int{2048, 4096, 8000}

const (
	// discardScores is the least number of scores of a model without trees that discards members:
	// with fewer scores each member adds little to the cost of a step. With 1 instead, elec takes
	// .97 times the time.
	discardScores = 5

	// discardGap is the difference between the decayed losses of a member and of the best one above
	// which the member is discarded: its share in the mixture is then less than exp(-discardGap).
	// Chosen by trial: docs/algorithms.md has the errors.
	discardGap = 20

	// keepsAll is the bit of newton.discarded that forbids further discards. It is set when a
	// member has been reset, because its loss is then of fewer rows than the losses of others.
	keepsAll = 1 << 32
)

// discardMembers discards the members that do not pay, if the last mini-batch has brought the rows
// of the window from before to one of discards.
func (w *newton) discardMembers(before int) {
	rows := w.window.rows
	at := slices.IndexFunc(discards[:], func(n int) bool { return before < n && n <= rows })
	if at < 0 || !w.discards(at == len(discards)-1) || w.discarded&keepsAll != 0 {
		return
	}
	var stays []bool
	if at < len(discards)-1 {
		stays = w.stayAtFirst()
	} else {
		stays = w.stayAtLast()
	}
	w.discard(stays)
}

// discard discards the members for which stays is false, if there are any.
func (w *newton) discard(stays []bool) {
	for m, original := range w.remaining() {
		if !stays[m] {
			w.discarded |= 1 << original
		}
	}
	if slices.Contains(stays, false) {
		w.keep(stays)
	}
}

// discards reports whether members can be discarded; last says whether it is at the last of
// discards. A model with several targets discards none. Without trees, the loss must be one of
// probabilities, with at least discardScores scores. With trees, these must be trees that grow
// again; at the last of discards any loss and number of scores will do.
func (w *newton) discards(last bool) bool {
	switch {
	case !w.discarding || w.Head.Parts() > 1:
		return false
	case len(w.forest.members) > 0:
		return w.regrows() && (last || w.Head.Probabilities() && w.Head.Scores() >= discardScores)
	}
	return w.Head.Probabilities() && w.Head.Scores() >= discardScores
}

// stayAtFirst reports for each member whether it stays at one of discards before the last. Members
// with leaves are compared with each other, and so are those without: either group may yet be
// discarded.
func (w *newton) stayAtFirst() []bool {
	stays := make([]bool, len(w.members))
	for m, who := range w.members {
		best := w.bestMember(func(a member) bool { return (a.rho == 1) == (who.rho == 1) })
		stays[m] = !who.whole() || w.lossOf(m) <= w.lossOf(best)+discardGap || who.lambda <= w.members[best].lambda
	}
	return stays
}

// stayAtLast reports for each member whether it stays at the last of discards. With trees, the best
// of the members with leaves stays.
func (w *newton) stayAtLast() []bool {
	stays := make([]bool, len(w.members))
	best := w.lossOf(w.bestMember(member.whole))
	gap := discardGap / mixture.Temperature(w.Head.Task, best, lossDecay)
	for m, who := range w.members {
		stays[m] = !who.whole() || w.lossOf(m) <= best+gap
	}
	if len(w.forest.members) > 0 {
		stays[w.bestMember(func(a member) bool { return a.rho < 1 })] = true
	}
	return stays
}

// lossOf returns the loss of a member or of its average, whichever is less.
func (w *newton) lossOf(m int) float64 {
	if m < w.averaged {
		return min(w.loss[m], w.loss[len(w.members)+m])
	}
	return w.loss[m]
}

// bestMember returns the member with the least loss of those that learn from the whole window and
// satisfy the predicate of.
func (w *newton) bestMember(of func(a member) bool) (best int) {
	least := math.Inf(1)
	for m, who := range w.members {
		if l := w.lossOf(m); who.whole() && of(who) && l < least {
			least, best = l, m
		}
	}
	return best
}

// whole reports whether the member learns from all rows of the window.
func (m member) whole() bool { return m.rows >= windowRows }

// remaining returns the numbers that the members had before any was discarded.
func (w *newton) remaining() []int {
	var of []int
	for m := 0; len(of) < len(w.members); m++ {
		if w.discarded>>m&1 == 0 {
			of = append(of, m)
		}
	}
	return of
}

// loadPlan removes from w, which has learned nothing yet, the members that are discarded in a State
// with that many rows in its window, with or without trees.
func (w *newton) loadPlan(s *state.Reader, rows int64, trees bool) {
	if w.Options.ForestTrial && !trees && rows >= int64(w.growsFrom()) {
		w.withoutForest()
	}
	if !w.discarding {
		return
	}
	bits := state.Take[int64](s, "members.discarded", 1, 1)
	if s.Err != nil {
		return
	}
	discarded, all := bits[0], int64(1)<<len(w.members)-1
	s.Require(discarded >= 0 && discarded&^(all|keepsAll) == 0 && discarded&all != all, "members %b of %d are discarded", discarded, len(w.members))
	if s.Err != nil {
		return
	}
	stays := make([]bool, len(w.members))
	for m := range stays {
		stays[m] = discarded>>m&1 == 0
	}
	w.discarded = discarded
	w.plan = w.plan.of(stays)
	w.replanned()
	s.Require(!trees || len(w.forest.members) > 0, "the members with leaves are discarded, but not the trees")
}

// keep discards the members that do not stay. The others continue as they are.
func (w *newton) keep(stays []bool) {
	k, n, e := w.Head.Scores(), w.Head.Parts(), len(w.members)
	averages := stays[:w.averaged]
	w.loss = slices.Concat(keepGroups(w.loss[:e*n], n, stays), keepGroups(w.loss[e*n:], n, averages))
	w.coef, w.intercept = keepGroups(w.coef, k, stays), keepGroups(w.intercept, k, stays)
	w.averageCoef, w.averageIntercept = keepGroups(w.averageCoef, k, averages), keepGroups(w.averageIntercept, k, averages)
	before := w.forest
	w.plan = w.plan.of(stays)
	w.replanned()
	w.forest.keep(&before, stays, k, n)
	w.window.f = keepGroups(w.window.f, k*vec.Lanes, stays)
	for i := range w.grams {
		w.grams[i].factors = w.grams[i].factors[:0] // of other penalties
	}
}

// of returns by with the members that stay.
func (by plan) of(stays []bool) plan {
	all, averaged, later := by.members, by.averaged, by.later
	by.members, by.averaged, by.later = nil, 0, 0
	for m, who := range all {
		if !stays[m] {
			continue
		}
		by.members = append(by.members, who)
		if m < averaged {
			by.averaged++
		}
		if m < later {
			by.later++
		}
	}
	return by
}

// replanned adapts w to other members.
func (w *newton) replanned() {
	w.changed.all = true
	w.factorOf, w.factors = sharedFactors(w.members)
	w.forest = w.newLeaves()
}

// keepGroups returns v without the groups for which stays is false. v consists of groups of k
// numbers, and every len(stays) of them are those of the members.
func keepGroups(v []float64, k int, stays []bool) []float64 {
	n := 0
	for _, stay := range stays {
		if stay {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	kept := make([]float64, 0, len(v)/len(stays)*n)
	for i := 0; i < len(v); i += len(stays) * k {
		for m, stay := range stays {
			if stay {
				kept = append(kept, v[i+m*k:i+(m+1)*k]...)
			}
		}
	}
	return kept
}
