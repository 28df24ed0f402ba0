package learner

import (
	"fmt"
	"math"
	"slices"
)

// Stepper decides how far a step goes against the gradient.
type Stepper struct {
	First  float64 // γ₀
	Lambda float64
	Rough  bool // the loss has corners, at which steps of one size never come to rest
}

// newStepper returns the step size that needs no tuning. The functional
// Hessian of the loss on a mini-batch has no eigenvalue above
// smoothness × (top + 1/minibatch + 1/width) in expectation, where top is the
// largest eigenvalue of the kernel's matrix on a sample, divided by the
// sample's size, and the other two come from sampling rows and frequencies.
// A loss with corners steps as if its smoothness were 1.
func newStepper(smoothness, top float64, minibatch, width int, lambda float64) Stepper {
	rough := math.IsInf(smoothness, 1)
	if rough {
		smoothness = 1
	}
	noise := 1/float64(minibatch) + 1/float64(width)
	return Stepper{First: 1 / (smoothness * (top + noise)), Lambda: lambda, Rough: rough}
}

// Rate returns γ_t = γ₀/(1+γ₀λt) for step t, from 1. With time that is 1/(λt).
// For a loss with corners it is γ₀/√(1+t/30).
func (s Stepper) Rate(t int64) float64 {
	if s.Rough {
		return s.First / math.Sqrt(1+float64(t)/30)
	}
	return s.First / (1 + float64(s.First*s.Lambda*float64(t)))
}

// steppers are the directions that a step of descent can take.
var steppers = []string{"rate", "adagrad", "precond"}

// newDirection returns the direction of a name, or says that there is none.
func newDirection(name string) (direction, error) {
	switch name {
	case "rate":
		return new(plain), nil
	case "adagrad":
		return new(adagrad), nil
	case "precond":
		return new(precond), nil
	}
	return nil, fmt.Errorf("no stepper is named %q: want one of %v", name, steppers)
}

// A direction turns the slope of some blocks into the step that descent takes
// in them.
type direction interface {
	// turn sets slope, the gradient of the mean loss in the coefficients of blocks
	// [from, to), to what is to be added to them, for a step whose rate would be
	// this along the gradient.
	turn(d *descent, slope []float64, from, to int, rate float64)

	// grow says how many coefficients there are now, widen that there is an output
	// more.
	grow(coefficients int)
	widen(h *head, from int)

	save(a *arrays)
	load(s *source, rows, outputs int)
}

// plain goes along the gradient.
type plain struct{}

func (plain) turn(d *descent, slope []float64, from, to int, rate float64) {
	// The blocks touched share the step; normalised features are these by √width.
	rate /= float64(d.config.Width * (to - from))
	for i := range slope {
		slope[i] *= -rate
	}
}

func (plain) grow(int)               {}
func (plain) widen(*head, int)       {}
func (plain) save(*arrays)           {}
func (plain) load(*source, int, int) {}

// adagrad gives each coefficient a step of its own: the gradient over the root
// of the sum of its squares so far (Duchi, Hazan and Singer 2011). It takes no
// notice of the rate.
type adagrad struct{ squares []float64 }

// adagradStep is how far the first step goes, in terms of features of norm 1.
const adagradStep = 0.5

func (a *adagrad) turn(d *descent, slope []float64, from, to int, _ float64) {
	size := 2 * d.config.Width * d.head.sums()
	step := adagradStep / math.Sqrt(float64(2*d.config.Width*(to-from)))
	for i, s := range a.squares[from*size : to*size] {
		g := slope[i]
		s = min(s+float64(g*g), far)
		a.squares[from*size+i] = s
		slope[i] = 0
		if s > 1e-300 {
			slope[i] = -step * (g / math.Sqrt(s))
		}
	}
}

func (a *adagrad) grow(n int) { a.squares = append(a.squares, make([]float64, n-len(a.squares))...) }

func (a *adagrad) widen(h *head, from int) {
	a.squares = h.widen(a.squares, from)
	for i, s := range a.squares {
		a.squares[i] = math.Abs(s)
	}
}

func (a *adagrad) save(to *arrays) { put(to, "adagrad", 1, a.squares) }
func (a *adagrad) load(s *source, rows, outputs int) {
	a.squares = take[float64](s, "adagrad", rows*outputs, 1)
	s.want(len(a.squares) == 0 || slices.Min(a.squares) >= 0, "adagrad: a sum of squares is negative")
}
