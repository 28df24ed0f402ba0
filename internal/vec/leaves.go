package vec

// Pair is numbers of two scores.
type Pair [2]float64

// LeafSums are those of the rows of a leaf, for two scores.
type LeafSums struct{ Slope, Hessian Pair }

// SumLeaves adds the rows to the sums of their leaves: of row i first change[i] += step[last[i]],
// and then, in the sums of leaf[i], the slope += gradient[i] + curvature[i]*change[i], with the
// product rounded, and the Hessian += curvature[i]. The leaves must be those of sums and of step:
// not all implementations check them.
func SumLeaves(sums []LeafSums, leaf, last []uint16, step, change, gradient, curvature []Pair) {
	n := len(leaf)
	last, change, gradient, curvature = last[:n], change[:n], gradient[:n], curvature[:n]
	if n == 0 || leavesVectors(sums, leaf, last, step, change, gradient, curvature) {
		return
	}
	for i, at := range leaf {
		s, d, now, c, g := &sums[at], &step[last[i]], &change[i], &curvature[i], &gradient[i]
		for j := range now {
			now[j] += d[j]
			s.Slope[j] += g[j] + float64(c[j]*now[j])
			s.Hessian[j] += c[j]
		}
	}
}
