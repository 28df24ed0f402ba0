package kernel

import "slices"

// Auto stands for the kernel that the learner's warm-up chooses from its Candidates. It has a name,
// but neither values nor frequencies.
type Auto struct{}

const errAuto = "kernel: auto has no values and no frequencies: the warm-up of a learner chooses the kernel that it stands for; use one of kernel.All"

func (Auto) String() string                   { return "auto" }
func (Auto) LengthScale() float64             { return 0 }
func (a Auto) WithLengthScale(float64) Kernel { return a }
func (Auto) Eval(_, _ []float64) float64      { panic(errAuto) }
func (Auto) Sample([]float32, int, *Source)   { panic(errAuto) }

// candidates are in the order of preference: a later one is chosen only if it is better than those
// before it. Kernels that are nearly the same as one of them, or take much longer, are left out.
var candidates = [...]string{
	"gaussian", "laplacian", "cauchy", "matern:1.5", "gaussian+laplacian", "polynomial:2", "arc-cosine:1",
	"chi2", "intersection", "skewed-chi2:1",
}

// Candidates returns the kernels that Auto stands for, without scales.
func (Auto) Candidates() []Kernel {
	all := make([]Kernel, len(candidates))
	for i, name := range candidates {
		k, err := Parse(name)
		if err != nil {
			panic(err)
		}
		all[i] = k
	}
	return all
}

// Includes reports whether k is one of the Candidates, with a scale or without.
func (a Auto) Includes(k Kernel) bool {
	s, ok := k.(Scaled)
	return ok && slices.Contains(a.Candidates(), s.WithLengthScale(0))
}
