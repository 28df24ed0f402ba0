package kernel

import (
	"github.com/accrete-ml/accrete/features/kernel/random"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Gaussian is the kernel exp(-‖x-y‖² / (2 Scale²)). Its frequencies are normal
// with the standard deviation 1/Scale (Rahimi and Recht 2007, figure 1).
type Gaussian struct{ Scale float64 }

var gaussian = Family{
	Name:  "gaussian",
	Usage: "gaussian[:SCALE]",
	Help:  "exp(-‖x-y‖² / (2 SCALE²)), for smooth functions",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return Gaussian{scale}, err
	},
	Examples: []string{"gaussian:2.5", "gaussian:0.3"},
}

func (k Gaussian) String() string                       { return withScale("gaussian", k.Scale) }
func (k Gaussian) LengthScale() float64                 { return k.Scale }
func (k Gaussian) WithLengthScale(scale float64) Kernel { return Gaussian{scale} }
func (k Gaussian) Quantile(u float64) float64           { return random.NormalQuantile(u) / k.Scale }
func (k Gaussian) FrequencyScale() float64              { return k.Scale }

func (k Gaussian) Eval(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		d := (v - y[i]) / k.Scale
		s += float64(d * d)
	}
	return vec.Exp(-s / 2)
}

func (k Gaussian) EvalSquared(dst, d []float64, squaredScale float64) {
	factor := -1 / (2 * squaredScale)
	for i, v := range d {
		dst[i] = v * factor
	}
	vec.Exps(dst, dst)
}

func (k Gaussian) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	s.FillNormal(w)
	f := float32(1 / k.Scale)
	for i, v := range w {
		w[i] = float32(v * f)
	}
}
