package kernel

import "github.com/accrete-ml/accrete/internal/vec"

// Cauchy is the kernel ∏ᵢ 1/(1 + (xᵢ-yᵢ)²/Scale²). Its frequencies have the
// density ½ Scale exp(-Scale |ω|) in each coordinate (Rahimi and Recht 2007,
// figure 1, which leaves out the factor ½).
type Cauchy struct{ Scale float64 }

var cauchy = Family{
	Name:  "cauchy",
	Usage: "cauchy[:SCALE]",
	Help:  "the product of 1/(1 + (xᵢ-yᵢ)²/SCALE²), for smooth functions of few inputs",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return Cauchy{scale}, err
	},
	Examples: []string{"cauchy:2.5", "cauchy:0.3"},
}

func (k Cauchy) String() string                       { return withScale("cauchy", k.Scale) }
func (k Cauchy) LengthScale() float64                 { return k.Scale }
func (k Cauchy) WithLengthScale(scale float64) Kernel { return Cauchy{scale} }
func (k Cauchy) Quantile(u float64) float64           { return laplaceQuantile(u) / k.Scale }

func (k Cauchy) Eval(x, y []float64) float64 {
	p := 1.0
	for i, v := range x {
		d := (v - y[i]) / k.Scale
		p /= 1 + float64(d*d)
	}
	return p
}

// Sample inverts the distribution function of each half.
func (k Cauchy) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	for i := range w {
		w[i] = float32(k.Quantile(s.Float64()))
	}
}

// laplaceQuantile inverts the distribution function of the density ½ exp(-|v|).
func laplaceQuantile(u float64) float64 {
	v := -vec.Log(2 * min(u, 1-u))
	if u < 0.5 {
		v = -v
	}
	return v
}
