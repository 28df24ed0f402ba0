// Package kernel has the kernels of which package features computes random features: a
// file for each, with its closed form and the distribution of its frequencies.
//
// A Kernel draws frequencies from a Source of random numbers. A program can use a kernel
// of its own: implement Kernel, and set the field Kernel of a features.Map. To give the
// kernel a name that Parse, and with it configurations and snapshots, can read, append a
// Family to All.
package kernel

import "github.com/accrete-ml/accrete/features/kernel/random"

// Source is what frequencies are drawn from.
type Source = random.Source

// Kernel is a shift-invariant kernel with the value 1 at distance 0, or one that is
// Featured. Kernels are compared with ==: equal ones have the same values and
// frequencies.
type Kernel interface {
	// String returns the name that Parse reads back.
	String() string

	// Eval returns the kernel's value at x and y, which the features estimate.
	Eval(x, y []float64) float64

	// Sample fills w, which is row-major, with frequencies of dim numbers each, in
	// radians, drawn independently from the kernel's spectral density. They depend on
	// the kernel, dim and the random numbers of s, and on nothing else: a model
	// relies on drawing the same frequencies again, on every machine.
	Sample(w []float32, dim int, s *Source)
}

// Scaled is a Kernel of x/scale and y/scale. One without a scale, as
// Parse reads it from a name alone, leaves the choice to the learner's
// warm-up; it has a name, but no values and no frequencies.
type Scaled interface {
	Kernel

	// LengthScale returns the scale, or 0 if it is still to be chosen.
	LengthScale() float64

	// WithLengthScale returns the same kernel with another scale.
	WithLengthScale(scale float64) Kernel
}

// Radial is a Scaled kernel that depends on the Euclidean distance of its
// arguments alone. The warm-up compares many scales on the same rows, and so on
// the same distances.
type Radial interface {
	Scaled

	// EvalSquared sets dst to the kernel's values at the squared distances d, for
	// the squared scale. The kernel's own scale does not matter. dst and d have the
	// same length, and may be the same slice.
	EvalSquared(dst, d []float64, squaredScale float64)
}

// Normal is a Kernel whose frequencies have independent normal coordinates, all
// of the same standard deviation: the condition for SORF.
type Normal interface {
	Kernel

	// FrequencyScale returns the reciprocal of that standard deviation.
	FrequencyScale() float64
}

// Featured is a Kernel whose random features are not the cosine and the sine of a
// frequency's product with the input, but pairs of numbers of its own: the mean over
// random features of the pair of x times the pair of y is the kernel's value, which is
// at most 1. Sample draws the parameters of random features, as many for each as Sizes
// says, in place of frequencies.
type Featured interface {
	Kernel

	// Sizes returns the number of parameters of a random feature of dim inputs, and the
	// length of a row as Prepare writes it.
	Sizes(dim int) (parameters, prepared int)

	// Prepare sets dst to what the random features need to know of the row x.
	Prepare(dst []float64, x []float32)

	// Pairs sets dst, two numbers for each random feature, to those of a prepared row.
	// w has the parameters. All of them are finite.
	Pairs(dst, x, w []float64)
}

// Linear is a Featured kernel whose parameters are vectors of the length of a prepared
// row, of which its features need nothing but the products with the row. A features.Bank
// computes these together, in float32.
type Linear interface {
	Featured

	// FromProducts is Pairs for the products, as many for each random feature as it has
	// vectors.
	FromProducts(dst, products []float64)
}

// Independent is a Kernel whose frequencies have independent coordinates of the same
// distribution: the condition for QMC.
type Independent interface {
	Kernel

	// Quantile returns the number below which a coordinate is with the probability u, of
	// (0, 1).
	Quantile(u float64) float64
}
