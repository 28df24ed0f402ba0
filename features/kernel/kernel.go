// Package kernel has the kernels for which package features computes random features. Each is in
// its own file, with its closed form and the distribution of its frequencies.
//
// A Kernel draws frequencies from a Source of random numbers. To use a kernel of its own, a program
// implements Kernel, and sets the field Kernel of a features.Map. To give the kernel a name that
// Parse, configurations and snapshots accept, it appends a Family to All.
package kernel

import "github.com/accrete-ml/accrete/features/kernel/random"

// Source is what frequencies are drawn from.
type Source = random.Source

// Kernel is a shift-invariant kernel with the value 1 at distance 0, or a kernel that is Featured.
// Kernels are compared with ==: equal kernels have the same values and frequencies.
type Kernel interface {
	// String returns the name that Parse reads back.
	String() string

	// Eval returns the kernel's value at x and y, which the random features estimate.
	Eval(x, y []float64) float64

	// Sample fills w, which is row-major, with frequencies of dim numbers each, in radians, drawn
	// independently from the kernel's spectral density. They depend on the kernel, dim and the
	// random numbers of s, and on nothing else, because a model must be able to draw the same
	// frequencies again on every machine.
	Sample(w []float32, dim int, s *Source)
}

// Scaled is a Kernel of x/scale and y/scale. A Scaled without a scale, for example if Parse has
// read only a name, leaves the choice of the scale to the learner's warm-up. It has a name, but
// neither values nor frequencies.
type Scaled interface {
	Kernel

	// LengthScale returns the scale, or 0 if it is still to be chosen.
	LengthScale() float64

	// WithLengthScale returns the same kernel with another scale.
	WithLengthScale(scale float64) Kernel
}

// Radial is a Scaled kernel that depends on the Euclidean distance of its arguments alone. The
// warm-up compares many scales on the same rows, and therefore on the same distances.
type Radial interface {
	Scaled

	// EvalSquared sets dst to the kernel's values at the squared distances d, for
	// the squared scale. The kernel's own scale does not matter. dst and d have the
	// same length, and may be the same slice.
	EvalSquared(dst, d []float64, squaredScale float64)
}

// Normal is a Kernel whose frequencies have independent normal coordinates with the same standard
// deviation, as SORF requires.
type Normal interface {
	Kernel

	// FrequencyScale returns the reciprocal of that standard deviation.
	FrequencyScale() float64
}

// Featured is a Kernel with random features of its own. Instead of the cosine and the sine of a
// frequency's product with the input, they are pairs of numbers. The kernel's value, which is at
// most 1, is the mean over random features of the pair of x times the pair of y. Sample draws the
// parameters of random features instead of frequencies. Sizes says how many parameters each has.
type Featured interface {
	Kernel

	// Sizes returns the number of parameters of a random feature of dim inputs, and the
	// length of a row as Prepare writes it.
	Sizes(dim int) (parameters, prepared int)

	// Prepare sets dst to the numbers that the random features need from the row x.
	Prepare(dst []float64, x []float32)

	// Pairs sets dst, which has two numbers for each random feature, to the pairs of a prepared row
	// x. w has the parameters. All results are finite.
	Pairs(dst, x, w []float64)
}

// Linear is a Featured kernel whose parameters are vectors of the length of a prepared row. Its
// features depend on the row only through the products with these vectors, which a features.Bank
// computes together, in float32.
type Linear interface {
	Featured

	// FromProducts is Pairs, given the products with the vectors of each random feature.
	FromProducts(dst, products []float64)
}

// Independent is a Kernel whose frequencies have independent coordinates with the same
// distribution, as QMC requires.
type Independent interface {
	Kernel

	// Quantile returns the u-quantile of a coordinate, for u in (0, 1).
	Quantile(u float64) float64
}
