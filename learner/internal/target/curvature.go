package target

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// MaxResidual bounds the influence of a label in a regression, for every algorithm: if a label is
// further than this many standard deviations from its prediction, the gradient is the one at this
// distance (Huber 1964). Chosen by trial, see docs/constants.md.
const MaxResidual = 10

// A loss of probabilities p has the second derivative p(1-p) in a score, which is far below its
// bound for most rows. Along a step it can grow; curvatureFactor and curvatureFloor allow for that.
// parabolaFloor makes sure that a row whose parabola is kept keeps some weight. Chosen by trial,
// see docs/constants.md.
const (
	curvatureFactor = 2
	curvatureFloor  = 0.01
	parabolaFloor   = 0.02
)

// Probabilities reports whether the scores are logarithms of odds or of probabilities. Otherwise
// they are margins or numbers.
func (h *Head) Probabilities() bool { return h.Task == Classification && !h.margins() }

// CurvatureAlong returns an estimate of the largest curvature along a step, at most bound. The step
// starts where a loss of probabilities has the gradient ±p.
func CurvatureAlong(p, bound float64) float64 {
	return min(bound, float64(curvatureFactor*p*(1-p))+curvatureFloor)
}

// ParabolaAlong is CurvatureAlong in the form that vec uses for lines of rows. Losses without
// probabilities have the bound as their curvature.
func (h *Head) ParabolaAlong(bound float64) vec.Parabola {
	if h.Probabilities() {
		return vec.Parabola{Bound: bound, Slope: curvatureFactor, Floor: curvatureFloor}
	}
	return vec.Parabola{Bound: bound, Floor: bound}
}

// CurvatureAt returns the curvature at the point where a loss of probabilities has this gradient in
// the scores, at most bound. It is the largest curvature of all scores.
func CurvatureAt(gradient []float64, bound float64) float64 {
	most := 0.0
	for _, d := range gradient {
		p := math.Abs(d)
		most = max(most, float64(p*(1-p)))
	}
	return min(bound, most+parabolaFloor)
}
