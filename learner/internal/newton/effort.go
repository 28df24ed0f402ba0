package newton

import "github.com/accrete-ml/accrete/learner/internal/engine"

// The efforts at which a plan changes, and its sizes for each row visit. Chosen by trial:
// docs/effort.md has the errors and the examples per second.
const (
	// FullEffort is the smallest effort with all members and averages.
	FullEffort = 64

	// mixedEffort is the smallest with two members; below there is one.
	mixedEffort = 16

	// effortRows is the number of rows of the window for each row visit, from
	// leastWindow to windowRows: a step then takes place every 128 rows or more often.
	effortRows, leastWindow = 128, 2048

	// EffortFeatures is the maximum of random features for each row visit: more of them
	// are changed too seldom.
	EffortFeatures = 64

	// noisyPenalty is the penalty of the warm-up from which on labels are mostly noise, which
	// visits do not reduce. There models with Options.Sparing make noisyVisits in a long window,
	// and for others AutoEffort is noisyEffort.
	noisyPenalty, noisyVisits, noisyEffort = 1e-2, 128, 32
)

// The members of models with less than the full effort. Their windows are as long as that
// of the model.
var (
	mixedEnsemble  = []member{{0.3, windowRows, 1}, {0.03, windowRows, 1}}
	singleEnsemble = []member{{0.1, windowRows, 1}}
)

// effort returns the row visits for each example of a model.
func effort(p *engine.Problem) int {
	if p.Options.Effort != engine.AutoEffort {
		return p.Options.Effort
	}
	if isNoisy(p) && !p.Options.Sparing {
		return noisyEffort
	}
	return rowVisitsPerExample
}

// isNoisy reports whether the labels of a model are mostly noise.
func isNoisy(p *engine.Problem) bool { return p.Fit.Lambda >= noisyPenalty }

// limited returns p, of the effort AutoEffort, with the random features that its effort is
// for, as learner.Config has them for others.
func limited(p engine.Problem, effort int) engine.Problem {
	if p.Options.Effort == engine.AutoEffort {
		p.Options.MaxFeatures = min(p.Options.MaxFeatures, max(EffortFeatures*effort, p.Options.BlockSize))
	}
	return p
}

// planOf returns the plan of a model with an effort.
func planOf(effort int) plan {
	by := plan{visits: int64(effort), length: min(max(leastWindow, effortRows*effort), windowRows)}
	switch {
	case effort >= FullEffort:
		by.members, by.averaged, by.tracking = ensemble, 3, trackerForgetting
	case effort >= mixedEffort:
		by.members, by.averaged, by.tracking = mixedEnsemble, 2, trackerForgetting
	default:
		by.members, by.averaged = singleEnsemble, 1
	}
	return by
}
