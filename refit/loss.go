package refit

import (
	"fmt"
	"math"
)

// A Loss is φ, convex and 1/Gamma-smooth, of a sum z and its target b, with its
// convex conjugate φ*(y) = max over z of yz - φ(z). Targets are numbers for
// Square, and -1 or 1 for the other losses.
type Loss interface {
	Value(z, b float64) float64

	// Slope is the derivative φ'(z).
	Slope(z, b float64) float64

	// Conjugate is φ*(y), and +Inf where that is not finite.
	Conjugate(y, b float64) float64

	// Prox is the β that maximises sβ - φ*(β) - r/2 (β-y)², for r >= 0 and a y
	// for which Conjugate is finite (Yu, Lin and Yang 2015, (15), with r = n/σ).
	Prox(s, y, b, r float64) float64

	// Gamma is the strong convexity of Conjugate.
	Gamma() float64

	// Start is a y to begin with.
	Start(b float64) float64

	// String names the loss in the form that ParseLoss reads.
	String() string
}

// Losses is every loss there is.
var Losses = []Loss{Square{}, SmoothHinge{}, Logistic{}}

// ParseLoss reads the form that a Loss's String writes.
func ParseLoss(s string) (Loss, error) {
	for _, l := range Losses {
		if l.String() == s {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no loss is named %q: want square, smooth-hinge or logistic", s)
}

// Square is (z-b)²/2.
type Square struct{}

func (Square) Value(z, b float64) float64      { return (z - b) * (z - b) / 2 }
func (Square) Slope(z, b float64) float64      { return z - b }
func (Square) Conjugate(y, b float64) float64  { return float64(y*y/2) + float64(b*y) }
func (Square) Prox(s, y, b, r float64) float64 { return (s - b + float64(r*y)) / (1 + r) }
func (Square) Gamma() float64                  { return 1 }
func (Square) Start(float64) float64           { return 0 }
func (Square) String() string                  { return "square" }

// SmoothHinge is 0 for margins bz of at least 1, 1/2-bz for those of at most 0,
// and (1-bz)²/2 between them (Yu, Lin and Yang 2015, (6)).
type SmoothHinge struct{}

func (SmoothHinge) Value(z, b float64) float64 {
	switch u := float64(b * z); {
	case u >= 1:
		return 0
	case u <= 0:
		return 0.5 - u
	default:
		return (1 - u) * (1 - u) / 2
	}
}

func (SmoothHinge) Slope(z, b float64) float64 { return b * max(-1, min(0, float64(b*z)-1)) }

func (SmoothHinge) Conjugate(y, b float64) float64 {
	v := float64(b * y)
	if !(v >= -1 && v <= 0) {
		return math.Inf(1)
	}
	return v + float64(v*v/2)
}

func (SmoothHinge) Prox(s, y, b, r float64) float64 {
	return b * max(-1, min(0, float64(b*((s-b+float64(r*y))/(1+r)))))
}

func (SmoothHinge) Gamma() float64        { return 1 }
func (SmoothHinge) Start(float64) float64 { return 0 }
func (SmoothHinge) String() string        { return "smooth-hinge" }
