package kernel_test

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
)

// A product of cosines: exp-sine kernels of periodic inputs are made of them. Its
// frequencies have the coordinates 1/Scale and -1/Scale, with equal probability.
type cosines struct{ Scale float64 }

func (k cosines) String() string { return fmt.Sprintf("cosines:%g", k.Scale) }

func (k cosines) Eval(x, y []float64) float64 {
	p := 1.0
	for i, v := range x {
		p *= math.Cos((v - y[i]) / k.Scale)
	}
	return p
}

func (k cosines) Sample(w []float32, _ int, s *kernel.Source) {
	for i := range w {
		w[i] = float32(1 / k.Scale)
		if s.Uint64()&1 == 0 {
			w[i] = -w[i]
		}
	}
}

// A kernel of another module.
func ExampleKernel() {
	kernel := cosines{Scale: 2}
	bank := features.NewBank(features.Map{Kernel: kernel, Dim: 2, BlockSize: 10_000})
	bank.Grow(1)
	x, y := []float32{0.5, 1}, []float32{-0.5, 0.7}
	phi, psi := make([]float32, 20_000), make([]float32, 20_000)
	bank.Features(phi, 0, x)
	bank.Features(psi, 0, y)
	estimate := 0.0
	for i := range phi {
		estimate += float64(phi[i]*psi[i]) / 10_000
	}
	fmt.Printf("%.2f, estimated as %.2f\n", kernel.Eval([]float64{0.5, 1}, []float64{-0.5, 0.7}), estimate)
	// Output: 0.87, estimated as 0.87
}
