//go:build !amd64 || purego

package vec

func native() []isa { return nil }

func dotVectors(lanes *[8]float64, x, y []float64) bool { return false }

func axpyVectors(a float64, x, y []float64) bool { return false }

func rotateVectors(x, y []float64, c, s float64) bool { return false }

func panelVectors(k int, w, x, inverse []float64) bool { return false }

func expVectors(dst, x []float64) int { return 0 }

func logVectors(dst, x []float64) int { return 0 }

func squaresVectors(*[8][strip]float64, []float64, int) int { return 0 }

func solveVectors(int, []float64, []float64) bool { return false }

func solvesVectors(int, []float64, []float64) bool { return false }

func shiftVectors(n int, f, dst []float64) bool { return false }

func sharesVectors(n int, e []float64) bool { return false }

func gradientVectors(n int, g, share, divisor []float64, table *[7]float64, curvature []float64, factors []float32) bool {
	return false
}

func majorantVectors(int, []float64, []float64, *[7]float64, []float64) bool { return false }

func curvatureVectors(n int, d, curvature, share, dst []float64) bool { return false }

func stepVectors(n int, f, d, shift, size []float64) bool { return false }

func sumVectors(n int, x, sum []float64) bool { return false }

func towardsVectors(to, from []float64, share float64) bool { return false }

func leavesVectors(_ int, _ []float64, _, _ []uint16, _, _, _, _ []float64) bool { return false }

func notAboveVectors(set []uint64, x []int32, threshold int32) bool { return false }

func adagradVectors(coef, squares, z []float64, rate, slope float64) (done int) { return 0 }

func mixVectors(dst []float32, coef, average, shares []float64, k, models, averages int) bool {
	return false
}

func addSlotsVectors([]float64, []float32, []uint32, []float32, uint32) bool { return false }

func stepSlotsVectors(_, _, _ []float32, _ []uint32, _ []float32, _ []float64, _ uint32, _, _ float64) bool {
	return false
}

func dotsVectors(dst, x, w []float64) bool { return false }
