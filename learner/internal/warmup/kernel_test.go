package warmup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// manhattan is the kernel exp(-‖x-y‖₁ / scale), whose distance is not the
// Euclidean one and grows faster with the inputs.
type manhattan struct{ scale float64 }

func (k manhattan) String() string                              { return fmt.Sprintf("manhattan:%g", k.scale) }
func (k manhattan) Sample([]float32, int, *kernel.Source)       { panic("only Eval is wanted") }
func (k manhattan) LengthScale() float64                        { return k.scale }
func (k manhattan) WithLengthScale(scale float64) kernel.Kernel { return manhattan{scale} }
func (k manhattan) Eval(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += math.Abs(v - y[i])
	}
	return math.Exp(-sum / k.scale)
}

// euclidean is exp(-‖x-y‖ / scale).
type euclidean struct{ manhattan }

func (k euclidean) WithLengthScale(scale float64) kernel.Kernel { return euclidean{manhattan{scale}} }
func (k euclidean) Eval(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += (v - y[i]) * (v - y[i])
	}
	return math.Exp(-math.Sqrt(sum) / k.scale)
}
func (euclidean) EvalSquared(dst, d []float64, squaredScale float64) {
	for i, v := range d {
		dst[i] = math.Exp(-math.Sqrt(v / squaredScale))
	}
}

var _ kernel.Radial = euclidean{}

// unscaled is a kernel without a scale.
type unscaled struct{}

func (unscaled) String() string                        { return "unscaled" }
func (unscaled) Sample([]float32, int, *kernel.Source) { panic("only Eval is wanted") }
func (unscaled) Eval(x, y []float64) float64           { return manhattan{5}.Eval(x, y) }

// TestAnyKernelGetsAScaleAndAPenalty: of rows of few and of many columns, the scale
// is one at which their kernel predicts nearly as well as at any other.
func TestAnyKernelGetsAScaleAndAPenalty(t *testing.T) {
	for _, dim := range []int{2, 400} {
		for _, k := range []kernel.Scaled{kernel.Gaussian{}, manhattan{}, euclidean{}} {
			rng := rand.New(rand.NewPCG(1, 2))
			var x []float64
			var labels []target.Label
			for range 260 {
				row := make([]float64, dim)
				sum := 0.0
				for j := range row {
					row[j] = rng.NormFloat64()
					sum += row[j]
				}
				x = append(x, row...)
				labels = append(labels, target.Label{Task: target.Regression, Value: math.Sin(sum/math.Sqrt(float64(dim))) + 0.1*rng.NormFloat64()})
			}
			f := NewFit(x, labels, dim, Request{Task: target.Regression, Kernel: k, Single: true})
			got, ok := f.Kernel.(kernel.Scaled)
			if !ok || got.LengthScale() <= 0 || !SameFamily(k, f.Kernel) || got.WithLengthScale(1) != k.WithLengthScale(1) {
				t.Fatalf("%d columns: kernel %v of %v", dim, f.Kernel, k)
			}
			s := sample{dim: dim, x: f.scaled(x, dim)}
			s.label(&f, labels, target.Regression)
			error := func(scale float64) float64 {
				return newTuner(s, Ones(dim), k.WithLengthScale(scale)).descend(safeTuning).error
			}
			best := math.Inf(1)
			for exponent := -8; exponent <= 8; exponent += 2 {
				best = min(best, error(math.Ldexp(got.LengthScale(), exponent)))
			}
			if e := error(got.LengthScale()); e > 1.1*best {
				t.Errorf("%d columns: %v makes an error of %.4f, and another scale one of %.4f", dim, f.Kernel, e, best)
			}
			if !(f.Lambda > 0 && f.Lambda < 1) || !(f.TopEigenvalue > 0 && f.TopEigenvalue <= 1) {
				t.Errorf("%d columns, %v: penalty %v, largest eigenvalue %v", dim, f.Kernel, f.Lambda, f.TopEigenvalue)
			}
		}
	}
}

// TestKernelWithoutAScaleStaysAsItIs, and has a penalty chosen for it.
func TestKernelWithoutAScaleStaysAsItIs(t *testing.T) {
	s := curved(400, 3, 0.1)
	rng := rand.New(rand.NewPCG(1, 2))
	signal, noise := make([]target.Label, s.rows()), make([]target.Label, s.rows())
	for i, y := range s.y {
		signal[i] = target.Label{Task: target.Regression, Value: y}
		noise[i] = target.Label{Task: target.Regression, Value: rng.NormFloat64()}
	}
	r := Request{Task: target.Regression, Kernel: unscaled{}}
	f, g := NewFit(s.x, signal, s.dim, r), NewFit(s.x, noise, s.dim, r)
	if f.Kernel != r.Kernel || g.Kernel != r.Kernel || f.Second != nil {
		t.Errorf("kernels %v and %v", f.Kernel, g.Kernel)
	}
	if f.Lambda >= g.Lambda {
		t.Errorf("penalty %v, and %v where there is only noise", f.Lambda, g.Lambda)
	}
}
