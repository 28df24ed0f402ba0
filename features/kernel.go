package features

// Kernel is a shift-invariant kernel with the value 1 at distance 0, or one that is
// Featured. Kernels are compared with ==: equal ones have the same values and
// frequencies.
type Kernel interface {
	// String returns the name that ParseKernel reads back.
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
// ParseKernel reads it from a name alone, leaves the choice to the learner's
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
