package features

import (
	"math"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// orthogonal sets dst to the frequencies of a block, of which each Dim consecutive ones are
// orthogonal to each other. It samples the kernel, whose density depends only on the length of a
// frequency, keeps the lengths, and makes the directions orthogonal by the Gram-Schmidt process
// ("orthogonal random features", Yu et al. 2016, with the lengths of the kernel in place of those
// of normal vectors).
func (m Map) orthogonal(dst []float32, s *kernel.Source) {
	d := m.Dim
	m.Kernel.Sample(dst, d, s)
	basis := make([]float64, 0, d*d)
	v := make([]float64, d)
	for ; len(dst) > 0; dst = dst[d:] {
		for i, w := range dst[:d] {
			v[i] = float64(w)
		}
		length := math.Sqrt(vec.Dot(v, v))
		if length == 0 {
			continue
		}
		if len(basis) == d*d {
			basis = basis[:0]
		}
		for range 2 { // once more, because rounding leaves a remainder
			for at := 0; at < len(basis); at += d {
				u := basis[at : at+d]
				vec.Axpy(-vec.Dot(u, v), u, v)
			}
		}
		rest := math.Sqrt(vec.Dot(v, v))
		if !(rest > 0x1p-30*length) { // in the span of the others, as frequencies practically never are
			continue
		}
		for i := range v {
			v[i] /= rest
			dst[i] = float32(v[i] * length)
		}
		basis = append(basis, v...)
	}
}
