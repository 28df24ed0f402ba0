package warmup

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// FixedFeatures are the features of a model that has too few of them to stand for its kernel. From
// a narrow kernel, a model of many features would learn more, but one of few learns less: so the
// choices are compared on these features themselves.
type FixedFeatures struct {
	features.Map     // but for the kernel
	Blocks       int // 0: there are many
}

// products sets k, of which the lower triangle counts, to the products of the
// features of the rows x: the kernel, nearly.
func (f FixedFeatures) products(k []float64, x []float32, by kernel.Kernel) {
	f.Kernel = by
	bank := features.NewBank(f.Map)
	bank.Grow(f.Blocks)
	n, d := len(x)/f.Dim, 2*f.Blocks*f.BlockSize
	phi, z := make([]float32, n*d), make([]float64, n*d)
	bank.Features(phi, 0, x)
	for i, v := range phi {
		z[i] = float64(v)
	}
	vec.Products(k, z, n)
	for i := range n {
		for j := range i + 1 {
			k[i*n+j] /= float64(d / 2)
		}
	}
}
