package features

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// The distributions that kernels sample from are part of the format of Source:
// they take words and normal numbers in a fixed order and compute with package
// internal/vec and operations that IEEE 754 defines to the last bit.

// cauchy returns a standard Cauchy number, tan(π(u-½)) of one uniform number.
func (s *Source) cauchy() float64 { return cauchyQuantile(s.Float64()) }

func cauchyQuantile(u float64) float64 {
	sin, cos := vec.Sincos(math.Pi * min(u, 1-u))
	if u < 0.5 {
		return -cos / sin
	}
	return cos / sin
}

// gamma returns a number of the gamma distribution of this shape and of rate 1,
// by rejection from a cubed normal number (Marsaglia and Tsang 2000). A shape
// below 1 is raised by 1, and the result multiplied by a power of a uniform number.
func (s *Source) gamma(shape float64) float64 {
	factor := 1.0
	if shape < 1 {
		factor = vec.Exp(vec.Log(s.Float64()) / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / (3 * math.Sqrt(d))
	var z [1]float32
	for {
		s.FillNormal(z[:])
		x := float64(z[0])
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		if vec.Log(s.Float64()) < float64(x*x/2)+float64(d*(1-v+vec.Log(v))) {
			return factor * d * v
		}
	}
}
