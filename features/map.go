package features

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
)

// Map is an endless sequence of random frequencies, in blocks. Block i depends
// on the fields of Map and on i, and on nothing else.
type Map struct {
	Kernel    kernel.Kernel
	Dim       int // number of inputs, at least 1
	BlockSize int // number of frequencies in a block; 0 stands for DefaultBlockSize
	Seed      uint64
	Sampling  Sampling

	// Leverage scores frequencies for the sampling Leveraged, which is IID without it.
	Leverage *Leverage

	// Second, if it is not nil, has a factor for each input that multiplies the odd
	// frequencies of each block: the features estimate the mean of Kernel at the
	// inputs and at the inputs times Second. See AllowsSecond.
	Second []float32
}

// DefaultBlockSize is the number of frequencies in a block where BlockSize is 0.
const DefaultBlockSize = 32

func (m Map) blockSize() int {
	if m.BlockSize == 0 {
		return DefaultBlockSize
	}
	return m.BlockSize
}

// Equal reports whether m and o have the same frequencies.
func (m Map) Equal(o Map) bool {
	return m.Dim == o.Dim && m.blockSize() == o.blockSize() && m.Seed == o.Seed && m.Sampling == o.Sampling &&
		m.Kernel.String() == o.Kernel.String() && slices.Equal(m.Second, o.Second) && m.Leverage.equal(o.Leverage)
}

// check panics if the fields do not fit together.
func (m Map) check() {
	if m.Kernel == nil || m.Kernel.String() == "" || m.Dim < 1 || m.BlockSize < 0 {
		panic(fmt.Sprintf("features: a Map of %d inputs with blocks of %d and the kernel %v: set Kernel to one of package kernel, Dim to 1 or more, and BlockSize to 0 or more", m.Dim, m.BlockSize, m.Kernel))
	}
	if err := m.Sampling.CheckKernel(m.Kernel); err != nil {
		panic("features: " + err.Error())
	}
	if m.Leverage != nil && (m.Sampling != Leveraged || m.Leverage.dim != m.Dim) {
		panic("features: a leverage needs its sampling, and rows of as many inputs")
	}
	if m.Second != nil && (!AllowsSecond(m.Kernel, m.Sampling) || len(m.Second) != m.Dim) {
		panic("features: a second kernel needs a factor for each input, and a sampling that allows it")
	}
}

// Frequencies sets dst, BlockSize x Dim and row-major, to the frequencies of a
// block, in radians, or to the parameters of a Featured kernel, as many for each random
// feature as its Sizes says.
func (m Map) Frequencies(dst []float32, block int) { m.frequencies(dst, block, new(kernel.Source)) }

func (m Map) frequencies(dst []float32, block int, s *kernel.Source) {
	if len(dst) != m.blockSize()*m.parameters() {
		panic("features: a block has BlockSize x Dim frequencies, or BlockSize x parameters")
	}
	s.Reset(m.Seed, uint64(block))
	samplings[m.Sampling].frequencies(m, dst, block, s)
	for i := m.Dim; m.Second != nil && i < len(dst); i += 2 * m.Dim {
		for j, f := range m.Second {
			dst[i+j] = float32(dst[i+j] * f)
		}
	}
}
