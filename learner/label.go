package learner

import (
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Task is what a model predicts: the probability of each class, a number, several, or
// the novelty of a row. The first label of a stream settles it where the configuration does not.
type Task = target.Task

// The tasks.
const (
	Auto           = target.Auto // not settled yet
	Classification = target.Classification
	Regression     = target.Regression
	Novelty        = target.Novelty
)

// ParseTask reads the form that Task's String writes: "auto", "classification",
// "regression" or "novelty".
func ParseTask(s string) (Task, error) { return target.ParseTask(s) }

// Label is what an example teaches: its Task, and the index of its Class, in the
// order in which classes appeared, or its Value, with the other targets of a
// regression of several in More. The zero value is the absence of a label: the
// example is predicted only.
type Label = target.Label

// MaxTargets is the maximum number of targets of a label.
const MaxTargets = target.MaxTargets

// Best returns the index of the largest of p, the first of them if there are more.
func Best(p []float64) int { return target.Best(p) }

// What the Class of a Label of Novelty says about the row, for those who grade scores.
const (
	Unlabelled  = target.Unlabelled // nothing
	KnownNormal = target.KnownNormal
	KnownNovel  = target.KnownNovel
)

// Novel reports whether a prediction of novelty, its score and its threshold, flags the
// row. There is none before the first fit of the warm-up.
func Novel(prediction []float64) bool { return target.Novel(prediction) }
