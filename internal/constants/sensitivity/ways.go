package main

import (
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// features bounds the size of the models, and thereby the time of all runs.
const features = 128

// way says how sets are learned to measure a constant.
type way struct {
	config  learner.Config
	losses  map[learner.Task]string // tasks that are not in it are left out; nil: the usual losses
	shift   float64                 // added to labels that are numbers, which are then bounded below by 0; 0: not used
	sets    []set
	measure func() measure
}

// configOf returns the configuration for a set, and the shift of its labels.
func (w *way) configOf(task learner.Task) (c learner.Config, shift float64, ok bool) {
	c = w.config
	if c.MaxFeatures == 0 {
		c.MaxFeatures = features
	}
	if w.losses != nil {
		if c.Loss, ok = w.losses[task]; !ok {
			return c, 0, false
		}
	}
	return c, w.shift, true
}

var (
	usualSets = []set{
		{name: "letter.train", task: learner.Classification, label: "y", rows: 1200},
		{name: "spam.train", task: learner.Classification, label: "y", rows: 1500},
		{name: "kin40k.train", task: learner.Regression, label: "y", rows: 2000},
		{name: "elec.stream", task: learner.Classification, label: "y", rows: 3000},
	}
	numbers = usualSets[2:3]
	// Sets with categories and missing values: flights as they are and with more missing values,
	// and letter with 16 categories in each column.
	columns = []set{
		{name: "flights.stream", task: learner.Regression, label: "arr_delay", rows: 3000},
		{name: "flights.stream:missing", task: learner.Regression, label: "arr_delay", rows: 3000, missing: 0.015},
		{name: "letter.train:categories", task: learner.Classification, label: "y", rows: 3000, as: "category"},
	}
	stream     = usualSets[3:]
	flights    = columns[:1]
	classified = []set{usualSets[0], usualSets[1], usualSets[3]}
	// Sets with rows in which most columns are 0, and with rows of text.
	hashed = []set{
		{name: "a9a.train", task: learner.Classification, label: "y", rows: 2000, sparse: true},
		{name: "flights.stream", task: learner.Regression, label: "arr_delay", rows: 2000, sparse: true},
	}
	// Sets with a rare class: a few rows of spam, and one class of letter.
	rare = []set{
		{name: "spam.train", task: learner.Classification, label: "y", rows: 2000, normal: []float64{0}, every: 12},
		{name: "letter.train", task: learner.Classification, label: "y", rows: 4000, normal: letters[1:], every: 1},
	}
	letters = []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}
	// Sets of normal classes with a few rows of others.
	novelties = []set{
		{name: "spam.train", label: "y", rows: 3000, normal: []float64{0}, every: 12},
		{name: "letter.train", label: "y", rows: 6000, normal: []float64{0, 1, 2, 3, 4}, every: 80},
	}
)

// nu is the share of the rows that should be flagged.
const nu = 0.1

// ways are the settings in which the constants of a package, or a single constant, have an effect,
// if the default settings do not use them.
var ways = map[string]*way{
	"ridge":                     {config: learner.Config{Algorithm: "ridge"}},
	"ridge.boostFactor":         boosted,
	"ridge.forgetFactor":        {config: learner.Config{Algorithm: "ridge", OnDrift: "forget"}},
	"drift":                     boosted,
	"eigenpro":                  {config: learner.Config{Algorithm: "eigenpro"}},
	"descent":                   {config: learner.Config{Algorithm: "all", Direction: "precond"}},
	"descent.defaultCap":        {config: learner.Config{Algorithm: "cdsg"}},
	"descent.ChoiceRows":        {config: learner.Config{Algorithm: "all"}},
	"descent.smallSizes":        rated,
	"descent.forgetFactor":      {config: learner.Config{Algorithm: "all", OnDrift: "forget"}},
	"descent.ceilingMargin":     rated,
	"descent.adagradStep":       {config: learner.Config{Algorithm: "all", Direction: "adagrad"}},
	"descent.coolingSteps":      {config: learner.Config{Algorithm: "all"}, losses: map[learner.Task]string{learner.Classification: "hinge", learner.Regression: "absolute"}},
	"newton.maxCurvature":       {config: learner.Config{Algorithm: "newton"}, losses: map[learner.Task]string{learner.Regression: "poisson"}, shift: 5},
	"newton.growRows":           forest,
	"newton.treesPerStep":       forest,
	"newton.forestEnsemble":     forest,
	"newton.majorantFloor":      forest,
	"newton.trialEnsemble":      onTrial,
	"newton.trials":             onTrial,
	"forest.alikeShare":         regrown,
	"forest.preferredSplits":    regrown,
	"newton.regrowths":          regrown,
	"newton.regrowthThresholds": regrown,
	"newton.regrowthRest":       regrown,
	"newton.pairMembers":        paired,
	"newton.pairShares":         paired,
	"newton.trialScores":        onTrial,
	"newton.discards":           discarding,
	"newton.discardScores":      discarding,
	"newton.discardGap":         discarding,
	"learner.autoTrees":         onTrial,
	"newton.FullEffort":         {config: learner.Config{Algorithm: "newton", Effort: 64}},
	"newton.mixedEffort":        lessEffort,
	"newton.effortRows":         lessEffort,
	"newton.leastWindow":        lessEffort,
	"newton.EffortFeatures":     lessEffort,
	"newton.noisyPenalty":       autoEffort,
	"newton.noisyEffort":        autoEffort,
	"learner.quickEffort":       lessEffort,
	"learner.leastFeatures":     lessEffort,
	"warmup":                    {config: learner.Config{Algorithm: "ridge"}},
	"warmup.Checkpoints":        usualWay,
	"warmup.quickCheckpoints":   lessEffort,
	"warmup.fewCheckpoints":     newest,
	"warmup.quickCompared":      lessEffort,
	"warmup.quickTuningRows":    lessEffort,
	"warmup.scoredValues":       normalised,
	"warmup.scoresGain":         normalised,
	"warmup.maxUnexplained":     newest,
	"warmup.weakMargin":         newest,
	"mixture":                   {config: learner.Config{Algorithm: "newton", Mixture: true}},
	"mixture.factorForget":      calibration,
	"mixture.factorPenalty":     calibration,
	"mixture.leastEngine":       {config: learner.Config{Algorithm: "newton", Mixture: true}, measure: newServed},
	"encode":                    {config: learner.Config{Algorithm: "ridge"}, sets: columns},
	"interval":                  {config: learner.Config{Algorithm: "ridge", Intervals: coverage}, sets: numbers, measure: newIntervals},
	"interval.noiseMemory":      variances,
	"interval.noiseShare":       variances,
	"learner.conformalRate":     {config: learner.Config{Algorithm: "ridge", Variance: true}, sets: numbers, measure: newConformal},
	"learner.forgetPosterior":   {config: learner.Config{Algorithm: "ridge", Variance: true, OnDrift: "forget"}, sets: flights, measure: newIntervals},
	"posterior.MaxFeatures":     {config: learner.Config{Algorithm: "newton", Variance: true}, sets: numbers, measure: newIntervals},
	"baseline.adagradRate":      {config: learner.Config{Algorithm: "ridge", Lags: 40}, sets: stream, measure: newLinear},
	"decide":                    {config: learner.Config{Algorithm: "ridge", Costs: "f1"}, sets: rare, measure: newMissed},
	"member.sparseRate":         sparse,
	"learner.sparseEffort":      sparse,
	"mixture.thinning":          {config: learner.Config{Algorithm: "newton", Mixture: true}},
	"newton.servedRows":         {config: learner.Config{Algorithm: "newton", Mixture: true}},
	"newton.servedPart":         {config: learner.Config{Algorithm: "newton", Mixture: true}},
	"oneclass.thresholdStep":    thresholds,
	"oneclass.spreadDecay":      thresholds,
	"oneclass":                  {config: learner.Config{Task: learner.Novelty, Nu: nu}, sets: novelties, measure: newNovelty},
	"oneclass.maxFeatures":      {config: learner.Config{Task: learner.Novelty, Nu: nu, MaxFeatures: 4096}, sets: novelties, measure: newNovelty},
}

var (
	usualWay    = &way{config: learner.Config{Algorithm: "newton"}}
	boosted     = &way{config: learner.Config{Algorithm: "ridge", OnDrift: "boost"}}
	rated       = &way{config: learner.Config{Algorithm: "all", Direction: "rate"}}
	forest      = &way{config: learner.Config{Algorithm: "newton", Forest: 32}}
	onTrial     = &way{config: learner.Config{Algorithm: "newton", Forest: 100, ForestTrial: true}}
	discarding  = &way{config: learner.Config{Algorithm: "newton", Discard: true}}
	paired      = &way{config: learner.Config{Algorithm: "newton", Forest: 100, ForestTrial: true, ForestPairs: true}}
	regrown     = &way{config: learner.Config{Algorithm: "newton", Forest: 100, ForestTrial: true, ForestRegrow: true}}
	lessEffort  = &way{config: learner.Config{Algorithm: "newton", Effort: 16}}
	autoEffort  = &way{config: learner.Config{Algorithm: "newton", Effort: learner.AutoEffort}}
	calibration = &way{config: learner.Config{Algorithm: "newton", Mixture: true}, sets: classified, measure: newCalibrated}
	sparse      = &way{config: learner.Config{Algorithm: "newton", Mixture: true, Sparse: 12}, sets: hashed}
	normalised  = &way{config: learner.Config{Algorithm: "newton", NormalScores: true}}
	newest      = &way{config: learner.Config{Algorithm: "newton", Warmup: learner.NewestWarmup}}
	thresholds  = &way{config: learner.Config{Task: learner.Novelty, Nu: nu}, sets: novelties, measure: newFlagged}
	variances   = &way{config: learner.Config{Algorithm: "ridge", Variance: true}, sets: numbers, measure: newIntervals}
)

func wayOf(name string) *way {
	of, _, _ := strings.Cut(name, ".")
	w := ways[name]
	if w == nil {
		w = ways[of]
	}
	if w == nil {
		w = usualWay
	}
	if w.sets == nil {
		w.sets = usualSets
	}
	if w.measure == nil {
		w.measure = newProgressive
	}
	return w
}
