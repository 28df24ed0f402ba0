package newton

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
)

// isPlain reports whether w is one.
func (w *newton) isPlain() bool { return w.Options.Plain && w.Options.Warming }

// plain returns by with at most plainMembers, and nothing beside them.
func (by plan) plain() plan {
	by.members = by.members[:min(plainMembers, len(by.members))]
	by.averaged, by.tracking = 0, nil
	return by
}
