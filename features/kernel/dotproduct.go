package kernel

import "errors"

// DotProduct is the kernel Σₙ aₙ (xᵀy)ⁿ for n = 0, …, 8, where the constant Scale is appended to x
// and y, and both are divided by their length. The coefficients are geometric, aₙ ∝ Ratioⁿ, so that
// the kernel is the beginning of Vovk's infinite polynomial (1-Ratio)/(1 - Ratio xᵀy). A random
// feature has a degree n, drawn with the probability aₙ, and is a product of n complex signs
// (random Maclaurin features: Kar and Karnick 2012).
type DotProduct struct{ Ratio, Scale float64 }

const defaultRatio, minRatio, maxRatio = 0.5, 0.01, 1

var dotProduct = Family{
	Name:  "dot-product",
	Usage: "dot-product[:RATIO[,SCALE]]",
	Help:  "Σ RATIOⁿ(xᵀy)ⁿ, n = 0, …, 8, of rows with the constant SCALE appended and the length 1; RATIO is at most 1, 0.5 by default",
	Parse: func(parameters string) (Kernel, error) {
		ratio, scale, err := parseShapeScale(parameters, defaultRatio, checkRatio)
		return DotProduct{ratio, scale}, err
	},
	Examples: []string{"dot-product:0.5,1", "dot-product:1,2.5", "dot-product:0.1,0.3"},
}

func checkRatio(ratio float64) error {
	if !(ratio >= minRatio && ratio <= maxRatio) {
		return errors.New("RATIO has to be a number from 0.01 to 1")
	}
	return nil
}

func (k DotProduct) String() string                       { return withShapeScale("dot-product", k.Ratio, k.Scale) }
func (k DotProduct) LengthScale() float64                 { return k.Scale }
func (k DotProduct) WithLengthScale(scale float64) Kernel { return DotProduct{k.Ratio, scale} }

// series returns Σₙ uⁿ, n = 0, …, maxDegree.
func series(u float64) float64 {
	s := 1.0
	for range maxDegree {
		s = 1 + float64(s*u)
	}
	return s
}

func (k DotProduct) Eval(x, y []float64) float64 {
	return series(k.Ratio*cosine(x, y, k.Scale)) / series(k.Ratio)
}

// Sizes returns the numbers of parameters and of prepared values. The first parameter is the
// degree.
func (k DotProduct) Sizes(dim int) (parameters, prepared int) {
	return 1 + 2*maxDegree*(dim+1), dim + 1
}
func (k DotProduct) Prepare(dst []float64, x []float32) { direction(dst, x, k.Scale) }

func (k DotProduct) Pairs(dst, x, w []float64) {
	n := 1 + 2*maxDegree*len(x)
	for i := 0; i < len(dst); i += 2 {
		degree := int(w[0])
		multiply(dst[i:i+2], dots(x, w[1:1+2*degree*len(x)]), degree)
		w = w[n:]
	}
}

func (k DotProduct) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, k.Ratio, checkRatio)
	n, all := 1+2*maxDegree*(dim+1), series(k.Ratio)
	for ; len(w) > 0; w = w[n:] {
		s.Roots(w[1:n], dim+1)
		degree, rest, a := 0, s.Float64()*all, 1.0
		for degree < maxDegree && rest >= a {
			degree, rest, a = degree+1, rest-a, a*k.Ratio
		}
		w[0] = float32(degree)
	}
}
