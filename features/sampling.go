package features

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Sampling is how the frequencies of a Map are drawn.
type Sampling int

const (
	// IID draws them independently from the kernel's spectral density.
	IID Sampling = iota

	// SORF draws orthogonal ones, for the Gaussian kernel: with n the least
	// power of two that is not below Dim, each n frequencies, counted from
	// frequency 0, are the rows of H D₃ H D₂ H D₁ / (n Scale), of which the
	// first Dim columns count ("structured orthogonal random features", Yu et
	// al. 2016). The estimate of the kernel varies less, above all where it is
	// large, and has a bias of the order of 1/Dim: it is for a Dim of 64 and
	// more. From about 100 on it takes less time than IID, and less memory;
	// gradients of blocks that are not whole transforms take more.
	SORF
)

var samplings = [...]string{"iid", "sorf"}

func (s Sampling) String() string { return samplings[s] }

// ParseSampling reads the form that String writes.
func ParseSampling(s string) (Sampling, error) {
	for i, name := range samplings {
		if s == name {
			return Sampling(i), nil
		}
	}
	return 0, fmt.Errorf("no sampling is named %q: want iid or sorf", s)
}

// leastSORF is the inputs from which on SORF's bias is less than what the number
// of features leaves.
const leastSORF = 64

// Check says whether s is for rows of so many inputs.
func (s Sampling) Check(inputs int) error {
	if s == SORF && inputs < leastSORF {
		return fmt.Errorf("sorf is for %d inputs or more, and here are %d: want iid", leastSORF, inputs)
	}
	return nil
}

// transform is the size of SORF's transforms, at least 4.
func (m Map) transform() int {
	n := 4
	for n < m.Dim {
		n *= 2
	}
	return n
}

// signs sets signs to those of a transform.
func (m Map) signs(signs []uint32, transform int) {
	vec.Signs(signs, vec.Key("signs", m.Seed, uint64(transform)))
}

// orthogonal is Frequencies for SORF.
func (m Map) orthogonal(dst []float32, block int) {
	n, first := m.transform(), block*m.width()
	s := float32(1 / (m.Kernel.(Gaussian).Scale * float64(n)))
	signs, t := make([]uint32, 3*n), make([]float32, n*vec.Lanes)
	x := make([]float32, m.Dim*vec.Lanes)
	for j := first / n; j*n < first+m.width(); j++ {
		m.signs(signs, j)
		for k := 0; k < m.Dim; k += vec.Lanes {
			lanes := min(vec.Lanes, m.Dim-k)
			clear(x)
			for l := range lanes {
				x[(k+l)*vec.Lanes+l] = 1
			}
			vec.Orthogonal(t, x, signs, n, m.Dim)
			for f := max(first, j*n); f < min(first+m.width(), (j+1)*n); f++ {
				for l := range lanes {
					dst[(f-first)*m.Dim+k+l] = float32(t[(f-j*n)*vec.Lanes+l] * s)
				}
			}
		}
	}
}

// halfTurns is what makes the products of SORF's matrices phases.
func (m Map) halfTurns() float32 {
	return float32(1 / (math.Pi * m.Kernel.(Gaussian).Scale * float64(m.transform())))
}
