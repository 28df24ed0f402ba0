package features

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// leastSORF is the number of inputs from which on SORF's bias, of the order of
// 1/Dim, is below the error that the number of features leaves.
const leastSORF = 64

// transform returns the size of a transform, at least 4.
func (m Map) transform() int {
	n := 4
	for n < m.Dim {
		n *= 2
	}
	return n
}

// signs sets signs to those of the transform of this index.
func (m Map) signs(signs []uint32, transform int) {
	vec.Signs(signs, vec.Key("signs", m.Seed, uint64(transform)))
}

// sorf sets dst to the frequencies of a block.
func (m Map) sorf(dst []float32, block int) {
	n, first := m.transform(), block*m.blockSize()
	s := float32(1 / (m.Kernel.(Normal).FrequencyScale() * float64(n)))
	signs, t := make([]uint32, 3*n), make([]float32, n*vec.Lanes)
	x := make([]float32, m.Dim*vec.Lanes)
	for j := first / n; j*n < first+m.blockSize(); j++ {
		m.signs(signs, j)
		for k := 0; k < m.Dim; k += vec.Lanes {
			lanes := min(vec.Lanes, m.Dim-k)
			clear(x)
			for l := range lanes {
				x[(k+l)*vec.Lanes+l] = 1
			}
			vec.Orthogonal(t, x, signs, n, m.Dim)
			for f := max(first, j*n); f < min(first+m.blockSize(), (j+1)*n); f++ {
				for l := range lanes {
					dst[(f-first)*m.Dim+k+l] = float32(t[(f-j*n)*vec.Lanes+l] * s)
				}
			}
		}
	}
}

// phaseScale returns the factor that turns the products of the transforms into
// phases in half turns.
func (m Map) phaseScale() float32 {
	return float32(1 / (math.Pi * m.Kernel.(Normal).FrequencyScale() * float64(m.transform())))
}
