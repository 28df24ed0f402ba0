package kernel

import "math"

// Hellinger is the kernel Σⱼ √(xⱼyⱼ) of histograms, Bhattacharyya's coefficient. A bin of the size
// Scale is added to x and y, and both are divided by their sums. The kernel is linear in the square
// roots of the bins. The random features are products of these roots with random signs.
type Hellinger struct {
	nonNegative
	Scale float64
}

var hellinger = Family{
	Name:  "hellinger",
	Usage: "hellinger[:SCALE]",
	Help:  "Σ √(xᵢyᵢ) of histograms that are divided by their sum plus SCALE, for functions linear in the roots; inputs are 0 or more",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return Hellinger{Scale: scale}, err
	},
	Examples: []string{"hellinger:1", "hellinger:0.03"},
}

func (k Hellinger) String() string                       { return withScale("hellinger", k.Scale) }
func (k Hellinger) LengthScale() float64                 { return k.Scale }
func (k Hellinger) WithLengthScale(scale float64) Kernel { return Hellinger{Scale: scale} }

func (k Hellinger) Eval(x, y []float64) float64 {
	return overBins(x, y, k.Scale, func(a, b float64) float64 { return math.Sqrt(a * b) })
}

func (k Hellinger) Sizes(dim int) (parameters, prepared int) { return 2 * (dim + 1), dim + 1 }

func (k Hellinger) Prepare(dst []float64, x []float32) {
	bins(dst, x, k.Scale)
	for i, v := range dst {
		dst[i] = math.Sqrt(v)
	}
}

func (k Hellinger) Pairs(dst, x, w []float64)            { multiply(dst, dots(x, w), 1) }
func (k Hellinger) FromProducts(dst, products []float64) { multiply(dst, products, 1) }

func (k Hellinger) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	s.Roots(w, dim+1)
}
