package divergence

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// same returns the probability that two samples of one distribution differ at least as much as p
// and q in the mean of their features. This difference is the maximum mean discrepancy of Gretton
// et al. (2012). The probability is estimated with 199 random permutations of the rows, so that it
// is at least 1/200.
func same(p, q table) float64 {
	n := p.rows()
	all := table{p.width, slices.Concat(p.z, q.z)}
	total := make([]float64, all.width)
	for i := range all.rows() {
		vec.Axpy(1, all.row(i), total)
	}
	order := make([]int, all.rows())
	for i := range order {
		order[i] = i
	}
	discrepancy := func() float64 {
		d := make([]float64, all.width)
		for _, i := range order[:n] {
			vec.Axpy(1, all.row(i), d)
		}
		sum, other := 0.0, float64(all.rows()-n)
		for j, v := range d {
			e := v/float64(n) - (total[j]-v)/other
			sum += float64(e * e)
		}
		return sum
	}
	observed, least := discrepancy(), 1
	rng := rand.New(rand.NewPCG(seed, permutations))
	for range permutations {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if discrepancy() >= observed {
			least++
		}
	}
	return float64(least) / (permutations + 1)
}

// kolmogorov compares two sorted samples. Samples without values do not differ.
func kolmogorov(p, q []float64) Column {
	if len(p) == 0 || len(q) == 0 {
		return Column{P: 1}
	}
	n, m, distance := float64(len(p)), float64(len(q)), 0.0
	for i, j := 0, 0; i < len(p) && j < len(q); {
		v := min(p[i], q[j])
		for i < len(p) && p[i] == v {
			i++
		}
		for j < len(q) && q[j] == v {
			j++
		}
		distance = max(distance, math.Abs(float64(i)/n-float64(j)/m))
	}
	root := math.Sqrt(n * m / (n + m))
	t := (root + 0.12 + 0.11/root) * distance // Stephens 1970
	probability, sign := 0.0, 2.0
	if t < 0.2 {
		return Column{distance, 1}
	}
	for k := 1.0; k <= 100; k++ {
		probability += float64(sign * vec.Exp(-2*k*k*t*t))
		sign = -sign
	}
	return Column{distance, max(0, min(1, probability))}
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return x[len(x)/2]
}

// scale standardises columns.
type scale struct{ center, factor []float64 }

// newScale returns the scale of the columns of x. A constant column is divided by its magnitude, so
// that other values of it remain distinguishable.
func newScale(x []float64, dim int) scale {
	s := scale{make([]float64, dim), make([]float64, dim)}
	for j := range dim {
		c := column(x, dim, j)
		n, mean, squares, largest := float64(max(1, len(c))), 0.0, 0.0, 0.0
		for _, v := range c {
			mean += bounded(v) / n
			largest = max(largest, math.Abs(bounded(v)))
		}
		for _, v := range c {
			squares += float64((bounded(v) - mean) * (bounded(v) - mean))
		}
		deviation := math.Sqrt(squares / n)
		if !(deviation > 1e-9*largest) {
			deviation = max(largest, 1)
		}
		s.center[j], s.factor[j] = mean, 1/deviation
	}
	return s
}

// bounded returns v, limited so that sums of its square are finite.
func bounded(v float64) float64 { return max(-1e140, min(1e140, v)) }

// apply returns x standardised. Missing values are set to the mean.
func (s scale) apply(x []float64) []float32 {
	out := make([]float32, len(x))
	for i := 0; i < len(x); i += len(s.center) {
		s.row(out[i:], x[i:i+len(s.center)])
	}
	return out
}

// row is apply for a single row.
func (s scale) row(dst []float32, x []float64) {
	for j, v := range x {
		dst[j] = 0
		if v == v {
			dst[j] = float32(max(-clip, min(clip, float64((bounded(v)-s.center[j])*s.factor[j]))))
		}
	}
}
