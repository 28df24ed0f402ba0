package descent

import (
	"math"
)

// StepSize is the schedule of the step size.
type StepSize struct {
	First  float64 // γ₀
	Lambda float64 // 1/θ, where the step size tends to θ/t; by default the penalty
	Rough  bool    // the loss has corners, at which constant steps do not converge
}

// NewStepSize returns the schedule that needs no tuning. The functional Hessian of
// the loss on a mini-batch has no eigenvalue above
// smoothness × (top + 1/minibatch + 1/blockSize) in expectation, where top is the
// largest eigenvalue of the kernel's matrix on a sample, divided by the size of the
// sample, and the other two come from sampling rows and frequencies. A loss with
// corners counts as one of smoothness 1.
func NewStepSize(smoothness, top float64, minibatch, blockSize int, lambda float64) StepSize {
	rough := math.IsInf(smoothness, 1)
	if rough {
		smoothness = 1
	}
	noise := 1/float64(minibatch) + 1/float64(blockSize)
	return StepSize{First: 1 / (smoothness * (top + noise)), Lambda: lambda, Rough: rough}
}

// Rate returns γ_t = γ₀/(1+γ₀λt) for step t, counted from 1, which tends to θ/t with θ = 1/λ. For a
// loss with corners it is γ₀/√(1+t/30).
func (s StepSize) Rate(t int64) float64 {
	if s.Rough {
		return s.First / Cooling(t)
	}
	if s.Lambda == 0 {
		return s.First
	}
	return s.First / (1 + float64(s.First*s.Lambda*float64(t)))
}

// coolingSteps is the number of steps after which the step size of a loss with
// corners has fallen to 1/√2. Chosen by trial, see docs/constants.md.
const coolingSteps = 30

// Cooling returns √(1+t/30), by which the step size of a loss with corners is divided
// after t steps (subgradient method: Nesterov 2004, section 3.2.3).
func Cooling(t int64) float64 { return math.Sqrt(1 + float64(t)/coolingSteps) }
