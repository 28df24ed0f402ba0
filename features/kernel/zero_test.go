package kernel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// A kernel without a scale, or with a shape out of its range, says which parameter to set.
func TestKernelsOfZeroValuesSayWhatToSet(t *testing.T) {
	for _, test := range []struct {
		k    kernel.Kernel
		want string
	}{
		{kernel.Gaussian{}, "the scale of gaussian is 0: set Scale to a number from 1e-12 to 1e+12"},
		{kernel.Laplacian{}, "set Scale"}, {kernel.Cauchy{}, "set Scale"}, {kernel.Chi2{}, "set Scale"}, {kernel.ArcCosine{}, "set Scale"},
		{kernel.ArcCosine{Order: 2, Scale: 1}, "ORDER has to be"},
		{kernel.Matern{Scale: 1}, "NU has to be"},
		{kernel.RationalQuadratic{Scale: 1}, "ALPHA has to be"},
		{kernel.Hierarchical{Scale: 1}, "WIDTH has to be"},
		{kernel.DotProduct{Scale: 1}, "RATIO has to be"},
		{kernel.Polynomial{Scale: 1}, "DEGREE has to be"},
		{kernel.SkewedChi2{Scale: 1}, "the shift C has to be"},
		{kernel.SkewedIntersection{Scale: 1}, "the shift C has to be"},
		{kernel.Auto{}, "the warm-up of a learner chooses"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, test.want) {
					t.Errorf("%T: %q, want %q", test.k, got, test.want)
				}
			}()
			test.k.Sample(make([]float32, 300), 2, new(kernel.Source))
		}()
	}
}

// The value of a Matérn kernel has no end to wait for, whatever its scale.
func TestMaternOfNoNumberEnds(t *testing.T) {
	x, y := []float64{1}, []float64{2}
	if v := (kernel.Matern{}).Eval(x, y); v > 0 {
		t.Errorf("without a scale: %v", v)
	}
	if v := (kernel.Matern{Nu: 0.8, Scale: 1e-200}).Eval(x, y); v != 0 {
		t.Errorf("far apart: %v", v)
	}
	if v := (kernel.Matern{Nu: 0.8, Scale: 1}).Eval([]float64{math.NaN()}, y); v == v {
		t.Errorf("of NaN: %v", v)
	}
}
