package loss

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Softmax is the loss ln Σ exp(f) - f[y] for any number of classes.
type Softmax struct{}

func (Softmax) Value(f []float64, y float64) float64 {
	top, sum := largest(f), 0.0
	var e [expBatch]float64
	for rest := f; len(rest) > 0; {
		n := min(expBatch, len(rest))
		for _, v := range exps(&e, rest[:n], top) {
			sum += v
		}
		rest = rest[n:]
	}
	return top - f[int(y)] + vec.Log(sum)
}

// largest returns the largest number in f. It ignores any NaN except f[0].
func largest(f []float64) float64 {
	top := f[0]
	for _, u := range f {
		if u > top {
			top = u
		}
	}
	return top
}

// expBatch is the number of classes whose exponentials are computed together, a multiple of the
// length of a vector.
const expBatch = 32

// exps returns the exponentials of f - top, for at most expBatch numbers. The result is a part of
// e, in which whole vectors are overwritten.
func exps(e *[expBatch]float64, f []float64, top float64) []float64 {
	whole := (len(f) + 7) &^ 7
	clear(e[len(f):whole])
	for i, u := range f {
		e[i] = u - top
	}
	vec.Exps(e[:whole], e[:whole])
	return e[:len(f)]
}

func (s Softmax) Grad(dst, f []float64, y float64) {
	s.Link(dst, f)
	dst[int(y)]--
}

func (Softmax) grads(dst, f, y []float64, models, k int) {
	dst = dst[:len(f)]
	for i := 0; i < len(f); i += k {
		top := slices.Max(f[i : i+k])
		for j, u := range f[i : i+k] {
			dst[i+j] = u - top
		}
	}
	vec.Exps(dst, dst)
	for i := 0; i < len(f); i += k {
		p, sum := dst[i:i+k], 0.0
		for _, e := range p {
			sum += e
		}
		for j := range p {
			p[j] /= sum
		}
		p[int(y[i/(models*k)])]--
	}
}

// Link sets dst to the probabilities. Unlike the Link of other losses, it allows dst and f to be
// the same slice.
func (s Softmax) Link(dst, f []float64) { s.LinkSum(dst, f) }

// LinkSum does the same as Link. It returns two numbers from which Value follows: for each class y,
// Value is top - f[y] + ln sum.
func (Softmax) LinkSum(dst, f []float64) (top, sum float64) {
	top = largest(f)
	var e [expBatch]float64
	for i := 0; i < len(f); i += expBatch {
		n := min(expBatch, len(f)-i)
		copy(dst[i:], exps(&e, f[i:i+n], top))
	}
	for _, v := range dst[:len(f)] {
		sum += v
	}
	for i := range f {
		dst[i] /= sum
	}
	return top, sum
}

func (Softmax) Scores(classes int) int { return classes }
func (Softmax) Smoothness() float64    { return 0.5 }
func (Softmax) Classifies() bool       { return true }
func (Softmax) String() string         { return "softmax" }
