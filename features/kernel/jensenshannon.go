package kernel

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// JensenShannon is the kernel Σⱼ ½xⱼ log₂((xⱼ+yⱼ)/xⱼ) + ½yⱼ log₂((xⱼ+yⱼ)/yⱼ) of histograms. A bin
// of the size Scale is added to x and y, and both are divided by their sums. The kernel is 1 minus
// the Jensen-Shannon divergence in bits. The spectrum of each bin is 2/(ln 4 (1+4ω²) cosh(πω))
// (Vedaldi and Zisserman 2012, table 1).
type JensenShannon struct {
	additive
	Scale float64
}

var jensenShannon = Family{
	Name:  "jensen-shannon",
	Usage: "jensen-shannon[:SCALE]",
	Help:  "1 minus the Jensen-Shannon divergence of histograms that are divided by their sum plus SCALE; inputs are 0 or more",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return JensenShannon{Scale: scale}, err
	},
	Examples: []string{"jensen-shannon:1", "jensen-shannon:0.03"},
}

func (k JensenShannon) String() string                       { return withScale("jensen-shannon", k.Scale) }
func (k JensenShannon) LengthScale() float64                 { return k.Scale }
func (k JensenShannon) WithLengthScale(scale float64) Kernel { return JensenShannon{Scale: scale} }

func (k JensenShannon) Eval(x, y []float64) float64 {
	return overBins(x, y, k.Scale, func(a, b float64) float64 {
		sum := a + b
		return (float64(a*vec.Log(sum/a)) + float64(b*vec.Log(sum/b))) / (2 * math.Ln2)
	})
}

func (k JensenShannon) Prepare(dst []float64, x []float32) { k.prepare(dst, x, k.Scale) }

// Sample draws ω from 1/cosh(πω) and accepts it with the probability 1/(1+4ω²), which is 69 % on
// average.
func (k JensenShannon) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	k.sample(w, dim, s, func() float64 {
		for {
			v := s.Sech()
			if s.Float64()*(1+float64(4*v*v)) < 1 {
				return v
			}
		}
	})
}
