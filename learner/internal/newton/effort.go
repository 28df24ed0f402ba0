package newton

import "github.com/accrete-ml/accrete/learner/internal/engine"

// The efforts at which a plan changes, and its sizes for each row visit. Chosen by trial:
// docs/effort.md has the errors and the examples per second.
const (
	// FullEffort is the smallest effort with all members and averages.
	FullEffort = 64

	// mixedEffort is the smallest effort with two members; with less there is one.
	mixedEffort = 16

	// effortRows is the number of rows of the window for each row visit, within leastWindow
	// and windowRows: from mixedEffort on, there is a step every 128 rows or more often.
	effortRows, leastWindow = 128, 2048

	// EffortFeatures is the maximum number of random features for each row visit: more of
	// them would change too seldom.
	EffortFeatures = 64

	// noisyPenalty is the penalty of the warm-up from which on labels count as mostly noise,
	// which more visits do not reduce. Models with Options.Sparing then make noisyVisits if their
	// window is long; for others AutoEffort means noisyEffort.
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

// limited returns p with no more random features than the effort is for, if it was chosen by
// AutoEffort. For other efforts, learner.Config has limited them.
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
