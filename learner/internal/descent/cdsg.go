package descent

import (
	"cmp"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// CDSG changes a block that the model has where that is as good as a new one,
// because the step takes back what earlier ones have put into it, and a new
// block otherwise (Li and Póczos, algorithm 4). What it compares is the variance
// that the function gets from its features being random. The paper's test, its
// equation 9, judges a block by its trace and so without looking at its
// features; with Alpha the test looks at coefficients and their gradients, which
// tells blocks apart where there are many outputs, and costs more.
type CDSG struct {
	Alpha bool
	Cap   float64 // no step is longer than Cap times a new block's; 0 stands for 2
}

// featureVariance bounds the variance of a feature's product with itself at
// another point, for features of norm 1.
const featureVariance = 2

func (c CDSG) Choose(s *Situation) (from, to int, rate float64) {
	k, rate := -1, 0.0
	lengths := c.traced
	if c.Alpha {
		lengths = c.sloped
	}
	lengths(s, func(block int, length float64) {
		if k < 0 || length > rate {
			k, rate = block, length
		}
	})
	switch {
	case k < 0 || rate <= s.Rate*(1+1e-9) && s.Blocks < s.Most:
		return s.Blocks, s.Blocks + 1, s.Rate
	case rate <= s.Rate:
		return k, k + 1, s.Rate
	}
	return k, k + 1, max(s.Rate, min(rate, cmp.Or(c.Cap, 2)*s.Rate, s.Ceiling))
}

// traced calls f with each block and the longest step that equation 9 allows in
// it, or 0 if it allows none.
func (c CDSG) traced(s *Situation, f func(block int, length float64)) {
	n := len(s.Mean)
	noise := s.Squares * featureVariance / (float64(s.Rows) * float64(s.Rows))
	for k := range s.Blocks {
		f(k, longestStep(s.Traces[k*n:(k+1)*n], s.Mean, s.Rate, noise))
	}
}

// longestStep returns the largest h with 2‖trace - h·mean‖² + 2h²·noise ≤ ‖trace‖² +
// rate²‖mean‖², or 0 if there is none.
func longestStep(trace, mean []float64, rate, noise float64) float64 {
	squares := vec.Dot(mean, mean)
	a, c := squares+noise, vec.Dot(trace, mean)
	d := float64(c*c) - float64(a*(vec.Dot(trace, trace)-float64(float64(rate*rate)*squares))/2)
	if d < 0 || a == 0 {
		return 0
	}
	return max(0, (c+math.Sqrt(d))/a)
}

// sloped calls f with each block and the longest step in it after which its
// coefficients have no greater norm than they and those of a new block, of a
// step of s.Rate, would have together.
func (c CDSG) sloped(s *Situation, f func(block int, length float64)) {
	products, squares := s.Slopes()
	mean := 0.0
	for _, g := range squares {
		mean += g / float64(len(squares))
	}
	for k, p := range products {
		length := 0.0
		if g := squares[k]; g > 0 {
			length = (p + math.Sqrt(float64(p*p)+float64(g*(float64(s.Rate*s.Rate)*mean)))) / g
		}
		f(k, length)
	}
}

// Traces says that the test looks at them.
func (CDSG) Traces() {}

func (c CDSG) String() string {
	if c.Alpha {
		return "cdsg:alpha"
	}
	return "cdsg"
}

// Help implements Rule.
func (c CDSG) Help() string {
	if c.Alpha {
		return "cdsg by coefficients and their gradients: better for many classes, slower"
	}
	return "a new block only where no old one is as good (Li and Póczos): fewer features"
}
