package features

import (
	"math"
	"testing"
)

// TestSumBlocksAddUpToSum: the sums of the blocks, one by one and in pairs, are
// those of all features but for rounding.
func TestSumBlocksAddUpToSum(t *testing.T) {
	for _, width := range []int{1, 7, 12, 32, 64} {
		const dim, rows, outputs, blocks = 5, 71, 3, 4
		b := NewBank(Map{Kernel: Gaussian{Scale: 2}, Dim: dim, Width: width, Seed: 3})
		b.Grow(blocks + 1)
		x, coef := make([]float32, rows*dim), make([]float32, 2*blocks*width*outputs)
		for i := range x {
			x[i] = float32(math.Sin(float64(i)))
		}
		for i := range coef {
			coef[i] = float32(math.Cos(float64(3 * i)))
		}
		want := make([]float64, rows*outputs)
		b.Sum(want, x, coef, outputs)
		for _, per := range []int{1, 2} {
			got, part := make([]float64, rows*outputs), make([]float64, rows*outputs)
			size := 2 * width * outputs
			for block := 0; block < blocks; block += per {
				b.SumBlocks(part, block, x, coef[block*size:(block+per)*size], outputs)
				for i, v := range part {
					got[i] += v
				}
			}
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-4 {
					t.Fatalf("width %d, %d blocks at a time: sum %d is %v, want %v", width, per, i, got[i], want[i])
				}
			}
		}
	}
}
