package newton

// A model with engine.Options.Early makes more of its first rows: its trees grow before the last
// fit of the warm-up, and again sooner, and while they are young, it takes more steps.

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

// featuresPerRow is the maximum number of random features for each row of the window in a frugal
// model, until the last fit, but they may always be leastFeatures: with few rows, more have little
// influence, and each new block takes a Gram matrix and its factors. Chosen by trial.
const featuresPerRow, leastFeatures = 4, 512

// frugal reports whether w has fewer random features than it may have, because another
// engine replaces it soon.
func (w *newton) frugal() bool { return w.Options.Frugal && w.Options.Warming }

// mostBlocks returns the number of blocks that w may have with some rows in its window.
func (w *newton) mostBlocks(rows int) int {
	most := w.Options.MaxBlocks()
	if w.frugal() {
		perRow := featuresPerRow
		if w.isPlain() {
			perRow = plainFeaturesPerRow
		}
		most = min(most, max(1, max(leastFeatures, perRow*rows)/w.Options.BlockSize))
	}
	return most
}

// rowsAgain returns the number of rows for each of the steps that follow when the rows of the
// warm-up are learned again.
func (w *newton) rowsAgain() int64 {
	if w.Options.Plain || w.Options.Frugal && !w.Options.Warming {
		return lastRowsAgain
	}
	return rowsAgain
}

// A plain model has few rows, and is replaced soon. It has no averages: the next fit would discard
// them before they know more than the members. It has no trackers: they correct a mixture whose
// members know all rows. And it takes fewer steps.

const (
	// plainMembers is the number of members that a plain model has until the last fit: those with
	// the strongest penalties. Chosen by trial.
	plainMembers = 2

	// plainThinning is what the row visits of a model that is plain are divided by. Chosen by
	// trial.
	plainThinning = 2

	// plainFeaturesPerRow is featuresPerRow of a model that is plain. Chosen by trial.
	plainFeaturesPerRow = 3
)

// isPlain reports whether w is a plain model.
func (w *newton) isPlain() bool { return w.Options.Plain && w.Options.Warming }

// plain returns by with at most plainMembers members, and without averages and trackers.
func (by plan) plain() plan {
	by.members = by.members[:min(plainMembers, len(by.members))]
	by.averaged, by.tracking = 0, nil
	return by
}
