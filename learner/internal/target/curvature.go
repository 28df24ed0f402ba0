package target

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// MaxResidual bounds the influence of a label in a regression, for every algorithm: the
// gradient for one that is further than this many standard deviations from its
// prediction is that at this distance (Huber 1964). Chosen by trial, see
// docs/constants.md.
const MaxResidual = 10

// A loss of probabilities p has the second derivative p(1-p) in a score, which is far
// below its bound for most rows. It can grow along a step, for which a factor and a
// floor allow; and a row whose parabola is kept must keep some weight. Chosen by trial,
// see docs/constants.md.
const (
	curvatureFactor = 2
	curvatureFloor  = 0.01
	parabolaFloor   = 0.02
)

// Probabilities reports whether the scores are logarithms of odds or of
// probabilities, and so neither margins nor numbers.
func (h *Head) Probabilities() bool { return h.Task == Classification && !h.margins() }

// CurvatureAlong returns the curvature along a step from where a loss of probabilities
// has the gradient ±p, and at most bound.
func CurvatureAlong(p, bound float64) float64 {
	return min(bound, float64(curvatureFactor*p*(1-p))+curvatureFloor)
}

// ParabolaAlong is CurvatureAlong for lines of rows; other losses have the bound.
func (h *Head) ParabolaAlong(bound float64) vec.Parabola {
	if h.Probabilities() {
		return vec.Parabola{Bound: bound, Slope: curvatureFactor, Floor: curvatureFloor}
	}
	return vec.Parabola{Bound: bound, Floor: bound}
}

// CurvatureAt returns the curvature at the point where a loss of probabilities has this
// gradient in the scores, of which the largest counts, and at most bound.
func CurvatureAt(gradient []float64, bound float64) float64 {
	most := 0.0
	for _, d := range gradient {
		p := math.Abs(d)
		most = max(most, float64(p*(1-p)))
	}
	return min(bound, most+parabolaFloor)
}
