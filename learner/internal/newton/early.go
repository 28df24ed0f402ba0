package newton

import "github.com/accrete-ml/accrete/learner/internal/target"

// A model with engine.Options.Early makes more of its first rows: its trees grow before the last
// fit of the warm-up, and again sooner, and while they are young, it takes more steps. Where its
// rows end before the window is full, it settles.

const (
	// earlyGrowRows is the number of rows of the window from which trees on trial grow in a plain
	// model: the rows with which its last fit takes effect. Chosen by trial: docs/forest.md.
	earlyGrowRows = 500

	// youngRows is the number of rows of the window until which trees are young: those at which
	// they first grow again. Chosen by trial: docs/forest.md.
	youngRows = 1792

	// youngVisits multiplies the row visits of a model with young trees. youngTrees stands in for
	// treesPerStep in such a model, and in one that settles. Chosen by trial: docs/forest.md.
	youngVisits, youngTrees = 2, 16

	// earlySplits is the number of columns that trees which grow again compare at a node. Chosen by
	// trial: docs/forest.md.
	earlySplits = 10

	// settlingRounds is the number of steps that a model which settles takes in each block, with
	// rowVisitsPerExample. Chosen by trial: docs/forest.md.
	settlingRounds = 2
)

// earlyEnsemble is the members of a plain model with a forest on trial: the two that it has without
// a forest, and for each of these one with leaves.
var earlyEnsemble = []member{{0.3, windowRows, 1}, {0.03, windowRows, 1}, {0.15, windowRows, 0.5}, {0.015, windowRows, 0.5}}

// earlyRegrowths is lateRegrowths of models with engine.Options.Early. Chosen by trial:
// docs/forest.md.
var earlyRegrowths = []regrowth{{trial{youngRows, 2}, true}, {trial{2560, 1.5}, false}, {trial{3584, 1.06}, true}, {trial{5120, 1.014}, true}, {trial{7168, 0.989}, false}}

// growsFrom returns the number of rows of the window from which the trees grow.
func (w *newton) growsFrom() int {
	if w.Options.Early && w.Options.ForestTrial && w.isPlain() {
		return earlyGrowRows
	}
	return growRows
}

// young reports whether w has members with leaves of young trees.
func (w *newton) young() bool {
	return w.Options.Early && len(w.forest.members) > 0 && w.forest.trees != nil && w.window.rows < youngRows
}

// treesNow returns the number of trees that change in a step.
func (w *newton) treesNow() int {
	if w.young() || w.settling {
		return min(youngTrees, w.Options.Forest)
	}
	return min(treesPerStep, w.Options.Forest)
}

// Settle implements engine.Settler: it takes some steps in every block, unless the window is full
// or has windowRows rows. While the window is shorter, only a few steps in each block have been
// taken with nearly all of its rows. Once it is full, predictions are mostly made with averages,
// which a few more steps would not change.
func (w *newton) Settle() (changed bool) {
	single := w.Head.Task == target.Classification && w.Head.Classes < 2
	if !w.Options.Early || single || w.window.rows < minWindow || w.window.rows >= min(windowRows, w.length) {
		return false
	}
	w.settling = true
	steps := settlingRounds * w.mostBlocks(w.window.rows) * int(w.visits) / rowVisitsPerExample
	for range max(1, steps) {
		w.step()
	}
	w.resetDiverged(nil)
	w.serve()
	w.scratch.team.Rest()
	w.settling = false
	return true
}
