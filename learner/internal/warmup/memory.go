package warmup

import "sync"

// matrices keeps the memory of square matrices for the next ones, of which a fit has hundreds.
var matrices sync.Pool

// newMatrix returns memory of n × n numbers, which are undefined.
func newMatrix(n int) []float64 {
	if m, ok := matrices.Get().(*[]float64); ok && cap(*m) >= n*n {
		return (*m)[:n*n]
	}
	return make([]float64, n*n)
}

// releaseMatrix gives the memory of m back, which is not to be used any more.
func releaseMatrix(m []float64) { matrices.Put(&m) }
