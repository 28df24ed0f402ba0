package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// plan is what the engines of this package differ in.
type plan struct {
	length  int   // of the window
	visits  int64 // rows of the window that steps visit for each example learned
	members []member

	averaged int       // how many members, the first ones, have averages; they learn from the whole window
	later    int       // how many will have them once the window is full
	tracking []float64 // factors of the trackers, for each row
	alone    bool      // steps use one core: another core is for the engine beside this one
}

// member is one of the models that are mixed.
type member struct {
	lambda float64 // multiple of the penalty that the warm-up chose
	rows   int     // number of the last rows that it learns from
	rho    float64 // share of the random features in its kernel; the leaves of the forest have the rest
}

// ensemble is the members of a model with the full effort and without trees. The penalty of the
// warm-up is right for its 1,000 rows; more rows need less, and the mixture decides how much less.
// The last member follows drift. Chosen by trial.
var ensemble = []member{{0.3, windowRows, 1}, {0.03, windowRows, 1}, {0.003, windowRows, 1}, {0.3, 1024, 1}}

// planOf returns the plan of a model with an effort.
func planOf(p *engine.Problem, effort int) plan {
	by := planOfEffort(effort)
	switch {
	case p.Options.ForestTrial:
		by = plan{length: windowRows, visits: int64(effort), members: trialEnsemble, averaged: 5, tracking: trackerForgetting}
	case p.Options.Forest > 0:
		by = plan{length: windowRows, visits: int64(effort), members: forestEnsemble, averaged: 5, tracking: trackerForgetting}
	}
	if p.Options.Warming {
		switch {
		case p.Options.Plain && p.Options.Early && p.Options.ForestTrial:
			by.members, by.averaged, by.tracking = earlyEnsemble, 0, nil
		case p.Options.Plain:
			by = by.distinct().plain()
		default:
			by = by.distinct()
		}
	}
	if p.Options.Late {
		by = by.late()
	}
	if isLong(p, effort) {
		by = by.long()
		if p.Options.Sparing && isNoisy(p) {
			by.visits = noisyVisits
		}
	}
	return by
}

// planOfEffort returns the plan of a model with an effort and without trees, once the warm-up has
// ended.
func planOfEffort(effort int) plan {
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

// distinct returns by with one member for each penalty. As long as there are no leaves, and the
// window has no more rows than any member learns from, other members with the same penalty would be
// equal to it.
func (by plan) distinct() plan {
	of, factors := sharedFactors(by.members)
	members, averaged := make([]member, 0, factors), 0
	for m, who := range by.members {
		if of[m] < len(members) {
			continue
		}
		if members = append(members, who); m < by.averaged {
			averaged++
		}
	}
	by.members, by.averaged = members, averaged
	return by
}

// sharedFactors returns which factor of a Gram matrix each member uses, and the number of factors:
// one for each penalty.
func sharedFactors(members []member) (of []int, factors int) {
	of = make([]int, len(members))
	for m, who := range members {
		penalty := func(a member) bool { return a.lambda/a.rho == who.lambda/who.rho }
		if first := slices.IndexFunc(members, penalty); first < m {
			of[m] = of[first]
			continue
		}
		of[m] = factors
		factors++
	}
	return of, factors
}

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
