package newton

// featuresPerRow is the number of random features for each row of the window that a model
// has at most until the last fit, if it is frugal, but leastFeatures: with few rows, more have
// little influence, and each new block takes a Gram matrix and its factors. Chosen by trial.
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

// rowsAgain returns the number of rows for each step after those that are learned again.
func (w *newton) rowsAgain() int64 {
	if w.Options.Plain || w.Options.Frugal && !w.Options.Warming {
		return lastRowsAgain
	}
	return rowsAgain
}

// A model that is plain is replaced soon, and has few rows: it has members and no averages, which
// the next fit would discard before they know more than the members, no trackers, which correct a
// mixture whose members know all rows, and takes fewer steps.

const (
	// plainMembers is the number of members until the last fit of a model that is Plain: those
	// with the strongest penalties. Chosen by trial.
	plainMembers = 2

	// plainThinning is what the row visits of a model that is plain are divided by. Chosen by
	// trial.
	plainThinning = 2

	// plainFeaturesPerRow is featuresPerRow of a model that is plain. Chosen by trial.
	plainFeaturesPerRow = 3
)

// isPlain reports whether w is one.
func (w *newton) isPlain() bool { return w.Options.Plain && w.Options.Warming }

// plain returns by with at most plainMembers, and nothing beside them.
func (by plan) plain() plan {
	by.members = by.members[:min(plainMembers, len(by.members))]
	by.averaged, by.tracking = 0, nil
	return by
}
