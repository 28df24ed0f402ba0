// Package loss has the losses that a learner can minimise, each with its
// gradient and with the link from what the model sums up to what it predicts.
package loss

import (
	"fmt"
	"strconv"
	"strings"
)

// A Loss compares the outputs f of a model with the target y of one example: a
// class's index for the losses of classification, a number for the others.
type Loss interface {
	// Value returns the loss. It is finite where the squares of f and y are, and
	// never negative.
	Value(f []float64, y float64) float64

	// Grad sets dst to the gradient of Value in f, or to a subgradient where
	// there is none. They may be the same slice.
	Grad(dst, f []float64, y float64)

	// Link sets dst to the prediction: a probability for each class, or the
	// number itself. dst and f must not overlap.
	Link(dst, f []float64)

	// Outputs returns the length of f for so many classes.
	Outputs(classes int) int

	// Smoothness returns the least upper bound of the second derivative: +Inf
	// where the gradient jumps.
	Smoothness() float64

	// Classifies says whether the target is a class.
	Classifies() bool

	// String names the loss in the form that Parse reads.
	String() string
}

// Grads sets dst to the gradients of l in the outputs f, as Grad does, of so many
// models for each of the targets y: f is targets × models × outputs. dst and f
// must not overlap.
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

// All is every loss there is. Those with a parameter have one for an example.
var All = []Loss{
	Square{}, Huber{Delta: 1}, Absolute{Epsilon: 0.1}, Quantile{Tau: 0.9}, Poisson{},
	Logistic{}, Softmax{}, Hinge{}, SquaredHinge{}, SmoothedHinge{}, OneVsRest{},
}

// Parse reads the form that String writes. A parameter may be left out: huber
// is huber:1, absolute is absolute:0 and quantile is quantile:0.5.
func Parse(s string) (Loss, error) {
	name, text, given := strings.Cut(s, ":")
	number := func(otherwise, least, most float64) (float64, error) {
		if !given {
			return otherwise, nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= least && v <= most) {
			return 0, fmt.Errorf("loss %q: want a number from %v to %v after the colon", s, least, most)
		}
		return v, nil
	}
	switch name {
	case "huber":
		v, err := number(1, 1e-6, 1e6)
		return Huber{v}, err
	case "absolute":
		v, err := number(0, 0, 1e6)
		return Absolute{v}, err
	case "quantile":
		v, err := number(0.5, 0.001, 0.999)
		return Quantile{v}, err
	}
	for _, l := range All {
		if l.String() == s {
			return l, nil
		}
	}
	var names []string
	for _, l := range All {
		names = append(names, l.String())
	}
	return nil, fmt.Errorf("no loss is named %q: want %s", s, strings.Join(names, ", "))
}
