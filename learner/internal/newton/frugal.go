package newton

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
