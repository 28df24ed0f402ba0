// Package loss has the losses that a learner can minimise, each with its
// gradient and with the link from what the model sums up to what it predicts.
package loss

import "fmt"

// A Loss compares the outputs f of a model with the target y of one example: a
// class's index for the losses of classification, a number for the others.
type Loss interface {
	// Value returns the loss. It is finite where f and y are, and never negative.
	Value(f []float64, y float64) float64

	// Grad sets dst to the gradient of Value in f. They may be the same slice.
	Grad(dst, f []float64, y float64)

	// Link sets dst to the prediction: the probability of each class, or the
	// number itself. dst and f must not overlap.
	Link(dst, f []float64)

	// Outputs returns the length of f for so many classes.
	Outputs(classes int) int

	// Smoothness returns the least upper bound of the second derivative.
	Smoothness() float64

	// String names the loss in the form that Parse reads.
	String() string
}

// All is every loss there is.
var All = []Loss{Square{}, Logistic{}, Softmax{}}

// Parse reads the form that String writes.
func Parse(s string) (Loss, error) {
	for _, l := range All {
		if l.String() == s {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no loss is named %q", s)
}
