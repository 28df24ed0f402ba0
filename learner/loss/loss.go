// Package loss has the losses that a learner can minimise. Each has its gradient and the link from
// scores to predictions. A loss that package refit can minimise as well also has its conjugate and
// proximal map (Dual).
//
// A new loss needs one file and one row of All. The tests range over All, so that they cover it
// without a change.
package loss

import (
	"fmt"
	"strconv"
	"strings"
)

// A Loss compares the scores f of a model with the target y of one example: the
// index of a class for the losses of classification, a number for the others.
type Loss interface {
	// Value returns the loss. It is never negative, and finite if the squares of f and y are.
	Value(f []float64, y float64) float64

	// Grad sets dst to the gradient of Value in f, or to a subgradient where there is no gradient.
	// dst and f may be the same slice.
	Grad(dst, f []float64, y float64)

	// Link sets dst to the prediction: a probability for each class, or a
	// number. dst and f must not overlap.
	Link(dst, f []float64)

	// Scores returns the number of scores for a number of classes.
	Scores(classes int) int

	// Smoothness returns the least upper bound of the second derivative: +Inf
	// if the gradient is not continuous.
	Smoothness() float64

	// Classifies reports whether the target is a class.
	Classifies() bool

	// String names the loss in the form that Parse reads.
	String() string
}

// A Curved loss has a Smoothness that is far above its second derivatives at the
// usual scores. Steps should be chosen by Curvature instead.
type Curved interface {
	Loss

	// Curvature returns the second derivative at the score f, or a bound of it if f is large.
	Curvature(f []float64) float64
}

// A Dual loss can be minimised by the primal-dual methods of package
// refit/optim: it is smooth, and its convex conjugate
//
//	φ*(u) = max over f of ⟨u, f⟩ - φ(f)
//
// has a closed form. φ* is 1/Smoothness-strongly convex.
type Dual interface {
	Loss

	// Conjugate returns φ*(u), which may be +Inf.
	Conjugate(u []float64, y float64) float64

	// Prox sets u to the β that maximises ⟨s, β⟩ - φ*(β) - r/2 ‖β-u‖², for r ≥ 0, if Conjugate is
	// finite at u (Yu, Lin and Yang 2015, (15) and (41)). u and s must not overlap.
	Prox(u, s []float64, y, r float64)

	// DualStart sets u to the point where solvers start. Conjugate is finite there.
	DualStart(u []float64, y float64)
}

// Grads sets dst to the gradients of l at the scores f of several models. For each gradient it does
// the same as Grad. f is targets × models × scores, with the targets y. dst and f must not overlap.
func Grads(l Loss, dst, f, y []float64, models int) {
	if len(y) == 0 {
		return
	}
	k := len(f) / (len(y) * models)
	if l, ok := l.(interface {
		grads(dst, f, y []float64, models, k int)
	}); ok {
		l.grads(dst, f, y, models, k)
		return
	}
	for i := 0; i < len(f); i += k {
		l.Grad(dst[i:i+k], f[i:i+k], y[i/(models*k)])
	}
}

// All has one row for each loss. If the loss has a parameter, the row is an example. Parse, the
// promises of the tests and the documentation range over it.
var All = []Loss{
	Square{}, Huber{Delta: 1}, Absolute{Epsilon: 0.1}, Quantile{Tau: 0.9}, quantiles(0.1, 0.5, 0.9), Poisson{},
	Logistic{}, Softmax{}, Hinge{}, SquaredHinge{}, SmoothedHinge{}, OneVsRest{},
}

// A parameter is the number after the colon of a loss's name.
type parameter struct {
	otherwise   float64 // default, if the name has no colon
	least, most float64
	loss        func(value float64) Loss
}

// Parse reads the form that String writes. A parameter may be left out: huber is huber:1, absolute
// is absolute:0 and quantile is quantile:0.5. Several levels of quantile, separated by commas, give
// a Quantiles.
func Parse(s string) (Loss, error) {
	name, text, given := strings.Cut(s, ":")
	if name == "quantile" && strings.Contains(text, ",") {
		return parseQuantiles(text)
	}
	for _, l := range All {
		if l.String() == s {
			return l, nil
		}
		known, _, _ := strings.Cut(l.String(), ":")
		with, ok := l.(interface{ parameter() parameter })
		if !ok || known != name {
			continue
		}
		p := with.parameter()
		if !given {
			return p.loss(p.otherwise), nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= p.least && v <= p.most) {
			return nil, fmt.Errorf("loss %q: want a number from %v to %v after the colon", s, p.least, p.most)
		}
		return p.loss(v), nil
	}
	var names []string
	for _, l := range All {
		names = append(names, l.String())
	}
	return nil, fmt.Errorf("unknown loss %q: want %s", s, strings.Join(names, ", "))
}
