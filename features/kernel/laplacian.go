package kernel

import (
	"math"

	"github.com/accrete-ml/accrete/features/kernel/random"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Laplacian is the kernel exp(-‖x-y‖₁ / Scale). Its frequencies are Cauchy in
// each coordinate, with the scale 1/Scale (Rahimi and Recht 2007, figure 1).
type Laplacian struct{ Scale float64 }

var laplacian = Family{
	Name:  "laplacian",
	Usage: "laplacian[:SCALE]",
	Help:  "exp(-‖x-y‖₁ / SCALE), for functions with kinks along single inputs",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return Laplacian{scale}, err
	},
	Examples: []string{"laplacian:2.5", "laplacian:0.3"},
}

func (k Laplacian) String() string                       { return withScale("laplacian", k.Scale) }
func (k Laplacian) LengthScale() float64                 { return k.Scale }
func (k Laplacian) WithLengthScale(scale float64) Kernel { return Laplacian{scale} }
func (k Laplacian) Quantile(u float64) float64           { return random.CauchyQuantile(u) / k.Scale }

func (k Laplacian) Eval(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += math.Abs(v - y[i])
	}
	return vec.Exp(-s / k.Scale)
}

func (k Laplacian) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	for i := range w {
		w[i] = float32(s.Cauchy() / k.Scale)
	}
}
