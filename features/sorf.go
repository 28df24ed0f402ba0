package features

import (
	"math"

	"github.com/accrete-ml/accrete/features/kernel"
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

// structure is a sampling by transforms of n frequencies each.
type structure struct {
	words int                                              // of a transform, in units of n
	draw  func(m Map, words []uint32, transform int)       // sets the words of a transform
	apply func(t, x []float32, words []uint32, n, dim int) // sets t, [n][Lanes], to the products with a panel of rows
	unit  func(n int) float64                              // by which the products are too large
}

// sorf is the structure of SORF.
var sorf = structure{
	words: 3,
	draw:  Map.signs,
	apply: func(t, x []float32, words []uint32, n, dim int) { vec.Orthogonal(t, x, words, n, dim) },
	unit:  func(n int) float64 { return float64(n) },
}

// signs sets signs to the random signs of the transform of this index.
func (m Map) signs(signs []uint32, transform int) {
	vec.Signs(signs, vec.Key("signs", m.Seed, uint64(transform)))
}

// structured sets dst to the frequencies of a block.
func (m Map) structured(by *structure, dst []float32, block int) {
	n, first := m.transform(), block*m.blockSize()
	s := float32(1 / (m.Kernel.(kernel.Normal).FrequencyScale() * by.unit(n)))
	words, t := make([]uint32, by.words*n), make([]float32, n*vec.Lanes)
	x := make([]float32, m.Dim*vec.Lanes)
	for j := first / n; j*n < first+m.blockSize(); j++ {
		by.draw(m, words, j)
		for k := 0; k < m.Dim; k += vec.Lanes {
			lanes := min(vec.Lanes, m.Dim-k)
			clear(x)
			for l := range lanes {
				x[(k+l)*vec.Lanes+l] = 1
			}
			by.apply(t, x, words, n, m.Dim)
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
	return float32(1 / (math.Pi * m.Kernel.(kernel.Normal).FrequencyScale() * samplings[m.Sampling].structure.unit(m.transform())))
}
