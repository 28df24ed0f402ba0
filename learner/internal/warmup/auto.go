package warmup

import (
	"math"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// kernelGain is the largest error, relative to that of the best kernel before it, at which a kernel
// is chosen. It is the same as for column weights, for the same reason.
const kernelGain = weightsGain

// among chooses one of the kernels by the leave-one-out error of the last rows x: with equal column
// weights, or with those of the rows before them, whichever error is lower. It leaves out kernels
// whose domain does not contain all rows. If there are few rows, it takes the first kernel.
func (a *Request) among(kernels []kernel.Kernel, x []float64, labels []target.Label, dim int, f Fit) kernel.Kernel {
	n := len(labels)
	if n < minTuningRows {
		return kernels[0]
	}
	best, least := kernels[0], math.Inf(1)
	weights := map[float64][]float64{} // by the bound of the domain, on which the scaler depends
	for _, k := range kernels {
		above := math.Inf(-1)
		if b, ok := k.(kernel.Bounded); ok {
			above = b.Above()
		}
		if !exceed(x, above) || a.Scaled && !math.IsInf(above, -1) {
			continue
		}
		own := *a
		own.Kernel = k
		f.Scaler = own.scaler(x, dim)
		s := sample{version: a.Version, dim: dim, x: f.scaled(x, dim)}
		s.label(&f, labels, a.Task)
		from := max(n/2, n-tuningRows)
		if weights[above] == nil && !f.Scaler.AsIs {
			weights[above] = floored(root(newColumnWeights(s.slice(0, from), weightings[0])))
		}
		for _, w := range [][]float64{Ones(dim), weights[above]} {
			if w == nil {
				continue
			}
			if e := newTuner(s.slice(from, n), w, k).searched(safeTuning).error; e < kernelGain*least {
				best, least = k, e
			}
		}
	}
	return best
}

// exceed reports whether all numbers of x exceed a bound.
func exceed(x []float64, bound float64) bool {
	for _, v := range x {
		if !(v > bound) && !math.IsInf(bound, -1) {
			return false
		}
	}
	return true
}
