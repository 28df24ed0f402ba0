package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSumsOfLeavesAreThePlainLoop holds all implementations against one score after the other, to
// the bit.
func TestSumsOfLeavesAreThePlainLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			if x[i] = r.NormFloat64(); r.IntN(9) == 0 {
				x[i] = math.Copysign(0, -1)
			}
		}
		return x
	}
	for _, k := range append([]int{3}, LeafScores[:]...) {
		for _, n := range []int{0, 1, 2, 31, 300} {
			for _, leaves := range []int{1, 3, 70} {
				step, change, gradient, curvature := numbers((leaves+2)*k), numbers(n*k), numbers(n*k), numbers(n*k)
				leaf, last := make([]uint16, n), make([]uint16, n)
				for i := range leaf {
					leaf[i], last[i] = uint16(r.IntN(leaves)), uint16(r.IntN(leaves+2))
				}
				wantSums, wantChange := make([]float64, leaves*2*k), slices.Clone(change)
				for j := range k {
					for i, at := range leaf {
						to := &wantChange[i*k+j]
						*to += step[int(last[i])*k+j]
						product := float64(curvature[i*k+j] * *to)
						wantSums[int(at)*2*k+j] += gradient[i*k+j] + product
						wantSums[int(at)*2*k+k+j] += curvature[i*k+j]
					}
				}
				eachISA(func(name string) {
					for _, atEnd := range []bool{false, true} {
						sums, moved := guarded(t, make([]float64, leaves*2*k), atEnd), guarded(t, change, atEnd)
						SumLeaves(k, sums, guarded(t, leaf, atEnd), guarded(t, last, atEnd), guarded(t, step, atEnd), moved, guarded(t, gradient, atEnd), guarded(t, curvature, atEnd))
						if !slices.Equal(sums, wantSums) || !slices.Equal(moved, wantChange) {
							t.Errorf("%s, %d scores, %d rows, %d leaves: the sums are %v, want %v", name, k, n, leaves, sums, wantSums)
						}
					}
				})
			}
		}
	}
}

// TestSetsOfNumbersAreThoseOfComparisons holds all implementations against one comparison after the
// other.
func TestSetsOfNumbersAreThoseOfComparisons(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	for _, words := range []int{0, 1, 2, 7} {
		x := make([]int32, 64*words)
		for i := range x {
			x[i] = int32(r.Uint32()) >> (r.IntN(4) * 9)
		}
		for _, threshold := range []int32{0, -1, 5, math.MinInt32, math.MaxInt32 - 1, math.MaxInt32, int32(r.Uint32())} {
			if words > 0 {
				x[r.IntN(len(x))] = threshold
				x[r.IntN(len(x))] = math.MaxInt32
			}
			eachISA(func(name string) {
				for _, atEnd := range []bool{false, true} {
					set := guarded(t, make([]uint64, words), atEnd)
					NotAbove(set, guarded(t, x, atEnd), threshold)
					for i, v := range x {
						if got := set[i/64]>>(i%64)&1 == 1; got != (v <= threshold) {
							t.Errorf("%s: %d is not above %d: %v", name, v, threshold, got)
						}
					}
				}
			})
		}
	}
}
