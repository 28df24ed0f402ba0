package descent

import (
	"math"
)

// StepSize decides how far a step goes against the gradient.
type StepSize struct {
	First  float64 // γ₀
	Lambda float64
	Rough  bool // the loss has corners, at which steps of one size never come to rest
}

// NewStepSize returns the step size that needs no tuning. The functional
// Hessian of the loss on a mini-batch has no eigenvalue above
// smoothness × (top + 1/minibatch + 1/width) in expectation, where top is the
// largest eigenvalue of the kernel's matrix on a sample, divided by the
// sample's size, and the other two come from sampling rows and frequencies.
// A loss with corners steps as if its smoothness were 1.
func NewStepSize(smoothness, top float64, minibatch, width int, lambda float64) StepSize {
	rough := math.IsInf(smoothness, 1)
	if rough {
		smoothness = 1
	}
	noise := 1/float64(minibatch) + 1/float64(width)
	return StepSize{First: 1 / (smoothness * (top + noise)), Lambda: lambda, Rough: rough}
}

// Rate returns γ_t = γ₀/(1+γ₀λt) for step t, from 1. With time that is 1/(λt).
// For a loss with corners it is γ₀/√(1+t/30).
func (s StepSize) Rate(t int64) float64 {
	if s.Rough {
		return s.First / math.Sqrt(1+float64(t)/30)
	}
	return s.First / (1 + float64(s.First*s.Lambda*float64(t)))
}
