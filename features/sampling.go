package features

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/spell"
)

// Sampling is how the frequencies of a Map are drawn. Snapshots hold the number.
type Sampling int

const (
	// IID draws the frequencies independently from the kernel's spectral density.
	IID Sampling = iota

	// SORF draws orthogonal frequencies, for kernels that are Normal: with n the least power of two
	// that is not below Dim, each n frequencies, counted from frequency 0, are the rows of
	// H D₃ H D₂ H D₁ / (n Scale), of which the first Dim columns count ("structured orthogonal
	// random features", Yu et al. 2016).
	//
	// The estimate of the kernel has a lower variance, especially where the kernel is large, and a
	// bias of the order of 1/Dim: use it for a Dim of 64 or more. From a Dim of about 100 on it
	// takes less time and less memory than IID, except for gradients of blocks that are not whole
	// transforms, which take more time.
	SORF

	// Orthogonal draws blocks in which each Dim consecutive frequencies are orthogonal, for kernels
	// that are Radial ("orthogonal random features", Yu et al. 2016). The estimate has a lower
	// variance, especially where the kernel is large, and no bias.
	Orthogonal

	// QMC draws quantiles at the points of a sequence that fills space evenly, after a
	// random shift, for kernels that are Independent ("quasi-Monte Carlo features",
	// Yang et al. 2014). The estimate varies less for few inputs.
	QMC

	// Fastfood draws frequencies as products of Hadamard transforms, a permutation and diagonal
	// matrices, for kernels that are Normal (Le, Sarlós and Smola 2013). A single frequency has
	// nearly the distribution of an independent one, but the frequencies of a transform depend on
	// each other.
	Fastfood

	// Leveraged draws a frequency more often the more it matters for a ridge regression on the rows
	// of Map.Leverage. It multiplies the features by the square root of the reciprocal of that
	// preference ("leverage weighted random features": Li, Ton, Oglic and Sejdinovic 2019).
	Leveraged
)

// samplings is indexed by Sampling. A new one comes last.
var samplings = []struct {
	name, help string

	// frequencies sets dst to the frequencies of a block. s is the source of the block.
	frequencies func(m Map, dst []float32, block int, s *kernel.Source)

	leastInputs int                      // least number of inputs that the sampling is meant for
	takes       func(kernel.Kernel) bool // reports whether it can draw the frequencies of a kernel; nil for all
	needs       string                   // what the kernel has to have
	single      bool                     // a Map cannot have a second kernel
	structure   *structure               // transforms, in place of stored frequencies; nil: none
}{
	IID: {
		name: "iid", help: "independent frequencies",
		frequencies: func(m Map, dst []float32, _ int, s *kernel.Source) { m.Kernel.Sample(dst, m.Dim, s) },
	},
	SORF: {
		name: "sorf", help: "structured orthogonal frequencies: faster for 128 inputs or more",
		frequencies: func(m Map, dst []float32, block int, _ *kernel.Source) { m.structured(&sorf, dst, block) },
		leastInputs: leastSORF, takes: isNormal, needs: "normal frequencies",
		structure: &sorf,
	},
	Orthogonal: {
		name: "orthogonal", help: "orthogonal frequencies, for kernels of the Euclidean distance",
		frequencies: func(m Map, dst []float32, _ int, s *kernel.Source) { m.orthogonal(dst, s) },
		takes:       func(k kernel.Kernel) bool { _, ok := k.(kernel.Radial); return ok }, needs: "values that depend on the Euclidean distance alone",
	},
	QMC: {
		name: "qmc", help: "evenly spread frequencies, for few inputs",
		frequencies: func(m Map, dst []float32, block int, _ *kernel.Source) { m.quasi(dst, block) },
		takes:       func(k kernel.Kernel) bool { _, ok := k.(kernel.Independent); return ok }, needs: "frequencies with independent coordinates",
	},
	Fastfood: {
		name: "fastfood", help: "structured frequencies that are nearly independent: faster for 128 inputs or more",
		frequencies: func(m Map, dst []float32, block int, _ *kernel.Source) { m.structured(&fastfood, dst, block) },
		leastInputs: leastSORF, takes: isNormal, needs: "normal frequencies",
		structure: &fastfood,
	},
	Leveraged: {
		name: "leverage", help: "frequencies that matter for a ridge regression on the first rows, more often",
		frequencies: func(m Map, dst []float32, _ int, s *kernel.Source) { m.leveraged(dst, nil, s) },
		takes:       hasFrequencies, needs: "frequencies, chosen in advance",
		single: true,
	},
}

// hasFrequencies reports whether the random features of k are cosines and sines.
func hasFrequencies(k kernel.Kernel) bool {
	_, own := k.(kernel.Featured)
	_, open := k.(kernel.Auto)
	return !own && !open
}

func isNormal(k kernel.Kernel) bool { _, ok := k.(kernel.Normal); return ok }

// Samplings returns all samplings.
func Samplings() []Sampling {
	all := make([]Sampling, len(samplings))
	for i := range all {
		all[i] = Sampling(i)
	}
	return all
}

// SamplingNames returns the names that ParseSampling reads.
func SamplingNames() []string {
	var names []string
	for _, s := range samplings {
		names = append(names, s.name)
	}
	return names
}

// Valid reports whether there is a sampling of this number.
func (s Sampling) Valid() bool { return s >= 0 && int(s) < len(samplings) }

// String returns the name of s.
func (s Sampling) String() string {
	if !s.Valid() {
		return "invalid"
	}
	return samplings[s].name
}

// Help describes s, which must be valid, in a line.
func (s Sampling) Help() string { return samplings[s].help }

// AllowsSecond reports whether a Map with this kernel and this sampling, which must be valid, can
// have a second kernel, see Map.Second.
func AllowsSecond(k kernel.Kernel, s Sampling) bool {
	_, own := k.(kernel.Featured)
	return !own && !samplings[s].single && samplings[s].structure == nil
}

// ParseSampling reads the form that String writes.
func ParseSampling(name string) (Sampling, error) {
	names := SamplingNames()
	if i := slices.Index(names, name); i >= 0 {
		return Sampling(i), nil
	}
	return 0, spell.Unknown("sampling", name, names, names)
}

// Check returns an error if s is not meant for rows of that many inputs.
func (s Sampling) Check(inputs int) error {
	if err := s.check(); err != nil {
		return err
	}
	if least := samplings[s].leastInputs; inputs < least {
		return fmt.Errorf("sampling %s needs at least %d inputs, but there are %d: use iid", s, least, inputs)
	}
	return nil
}

// CheckKernel returns an error if s cannot draw the frequencies of k.
func (s Sampling) CheckKernel(k kernel.Kernel) error {
	if err := s.check(); err != nil {
		return err
	}
	if v := &samplings[s]; v.takes != nil && !v.takes(k) {
		return fmt.Errorf("sampling %s needs a kernel with %s, which %s does not have: use iid", s, v.needs, k)
	}
	return nil
}

// check returns an error if there is no sampling of this number.
func (s Sampling) check() error {
	if !s.Valid() {
		return fmt.Errorf("sampling is %d: want 0 to %d", int(s), len(samplings)-1)
	}
	return nil
}
