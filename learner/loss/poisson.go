package loss

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Poisson is the loss exp(f) - yf for counts, with a constant added that makes it 0 where exp(f) =
// y: half the deviance. f is the logarithm of the mean. A target below 0 counts as 0. Above
// poissonTop the exponential is replaced by its tangent, so that the loss is convex and finite
// everywhere.
type Poisson struct{}

const poissonTop = 20

func (Poisson) Value(f []float64, y float64) float64 {
	u := f[0]
	v := vec.Exp(min(u, poissonTop))
	if u > poissonTop {
		v += float64(v * (u - poissonTop))
	}
	if y > 0 {
		v -= float64(y * (u - vec.Log(y) + 1))
	}
	return max(0, v)
}

func (Poisson) Grad(dst, f []float64, y float64) {
	dst[0] = vec.Exp(min(f[0], poissonTop)) - max(y, 0)
}

func (Poisson) Link(dst, f []float64) {
	dst[0] = vec.Exp(max(-poissonTop, min(poissonTop, f[0])))
}

// Curvature returns the second derivative at f, but no more than at poissonTop. Steps have to be
// chosen by it, because the scores of a model never come near the point that determines Smoothness.
func (Poisson) Curvature(f []float64) float64 { return vec.Exp(min(f[0], poissonTop)) }

func (Poisson) Scores(int) int      { return 1 }
func (Poisson) Smoothness() float64 { return math.Exp(poissonTop) }
func (Poisson) Classifies() bool    { return false }
func (Poisson) String() string      { return "poisson" }
