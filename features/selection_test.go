package features

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// TestSelectionHasTheFeaturesOfTheMap compares a selection with the bank of all
// frequencies, whose other coefficients are 0.
func TestSelectionHasTheFeaturesOfTheMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, m := range []Map{
		{Kernel: kernel.Gaussian{Scale: 1.5}, Dim: 5, BlockSize: 8, Seed: 3},
		{Kernel: kernel.Laplacian{Scale: 1}, Dim: 3, BlockSize: 50, Seed: 4},
		{Kernel: kernel.Gaussian{Scale: 1}, Dim: 4, BlockSize: 16, Seed: 5, Second: []float32{0, 1, 2, 0.5}},
	} {
		const blocks, scores, rows = 7, 2, 37
		all := NewBank(m)
		all.Grow(blocks)
		selected := make([]bool, blocks*m.BlockSize)
		coef, few := make([]float32, 2*scores*len(selected)), []float32(nil)
		for i := range selected {
			if i/m.BlockSize == 2 || r.IntN(3) > 0 {
				continue
			}
			selected[i] = true
			for j := range 2 * scores {
				coef[2*scores*i+j] = float32(r.NormFloat64())
			}
			few = append(few, coef[2*scores*i:2*scores*(i+1)]...)
		}
		x := make([]float32, rows*m.Dim)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		want, got := make([]float64, rows*scores), make([]float64, rows*scores)
		all.Sum(want, x, coef, scores)
		some := NewSelection(m, selected)
		if n := len(few) / 2 / scores; some.Blocks() != n {
			t.Fatalf("%v: %d blocks, want %d", m.Kernel, some.Blocks(), n)
		}
		for n := 1; n <= rows; n += 18 {
			clear(got)
			some.Sum(got[:n*scores], x[:n*m.Dim], few, scores)
			for i := range n * scores {
				if math.Abs(got[i]-want[i]) > 1e-5 {
					t.Errorf("%v: score %d is %v, want %v", m.Kernel, i, got[i], want[i])
				}
			}
		}
	}
}

func TestSelectionOfFeaturesMadeTogetherPanics(t *testing.T) {
	for _, m := range []Map{{Kernel: kernel.Gaussian{Scale: 1}, Dim: 8, Sampling: SORF}, {Kernel: kernel.ArcCosine{Order: 1}, Dim: 3}} {
		if m.AllowsSelection() {
			t.Errorf("%v, %v allows a selection", m.Kernel, m.Sampling)
		}
	}
}
