package features

import "github.com/accrete-ml/accrete/internal/vec"

// Map is an endless sequence of random frequencies, in blocks. Block i depends
// on the fields of Map and on i, and on nothing else.
type Map struct {
	Kernel Kernel
	Dim    int // of the inputs, at least 1
	Width  int // frequencies in a block; 0 stands for 32
	Seed   uint64

	Sampling Sampling

	// Second, if it is not nil, has a factor for each input that multiplies the odd
	// frequencies of each block: what the features estimate is the mean of Kernel at
	// the inputs and at the inputs times Second. It is for IID.
	Second []float32
}

// DefaultWidth is how many frequencies a block has where Width says nothing.
const DefaultWidth = 32

func (m Map) width() int {
	if m.Width == 0 {
		return DefaultWidth
	}
	return m.Width
}

// Frequencies sets dst, Width x Dim and row-major, to the frequencies of a
// block, in radians.
func (m Map) Frequencies(dst []float32, block int) {
	if m.Sampling == SORF {
		m.orthogonal(dst, block)
		return
	}
	m.sample(dst, block, new(vec.Normals))
}

func (m Map) sample(dst []float32, block int, chance *vec.Normals) {
	if len(dst) != m.width()*m.Dim {
		panic("features: frequencies of a block have Width x Dim numbers")
	}
	chance.Reset(vec.Key("frequencies", m.Seed, uint64(block)))
	m.Kernel.Sample(dst, m.Dim, chance)
	for i := m.Dim; m.Second != nil && i < len(dst); i += 2 * m.Dim {
		for j, s := range m.Second {
			dst[i+j] = float32(dst[i+j] * s)
		}
	}
}
