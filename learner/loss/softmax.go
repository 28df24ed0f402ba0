package loss

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Softmax is the loss ln Σ exp(f) - f[y] of any number of classes.
type Softmax struct{}

func (Softmax) Value(f []float64, y float64) float64 {
	top, sum := slices.Max(f), 0.0
	for _, u := range f {
		sum += vec.Exp(u - top)
	}
	return top - f[int(y)] + vec.Log(sum)
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

// Link sets dst to the probabilities. Unlike the links of the other losses it
// works in place.
func (Softmax) Link(dst, f []float64) {
	top, sum := slices.Max(f), 0.0
	for i, u := range f {
		dst[i] = vec.Exp(u - top)
		sum += dst[i]
	}
	for i := range f {
		dst[i] /= sum
	}
}

func (Softmax) Scores(classes int) int { return classes }
func (Softmax) Smoothness() float64    { return 0.5 }
func (Softmax) Classifies() bool       { return true }
func (Softmax) String() string         { return "softmax" }
