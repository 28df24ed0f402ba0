package learner

// Stepper decides how far a step goes against the gradient.
type Stepper struct {
	First  float64 // γ₀
	Lambda float64
}

// newStepper returns the step size that needs no tuning. The functional
// Hessian of the loss on a mini-batch has no eigenvalue above
// smoothness × (top + 1/minibatch + 1/width) in expectation, where top is the
// largest eigenvalue of the kernel's matrix on a sample, divided by the
// sample's size, and the other two come from sampling rows and frequencies.
func newStepper(smoothness, top float64, minibatch, width int, lambda float64) Stepper {
	noise := 1/float64(minibatch) + 1/float64(width)
	return Stepper{First: 1 / (smoothness * (top + noise)), Lambda: lambda}
}

// Rate returns γ_t = γ₀/(1+γ₀λt) for step t, from 1. With time that is 1/(λt).
func (s Stepper) Rate(t int64) float64 {
	return s.First / (1 + float64(s.First*s.Lambda*float64(t)))
}
