package kernel

import "strings"

// Product is the product of its parts. Its frequencies are sums of frequencies of the parts,
// because the characteristic function of a sum of independent vectors is the product of their
// characteristic functions.
type Product struct{ kernels parts }

// String returns the parts with an asterisk between them.
func (k Product) String() string {
	var factors []string
	for _, p := range k.Parts() {
		factors = append(factors, p.String())
	}
	return strings.Join(factors, "*")
}

func (k Product) Parts() []Scaled      { return k.kernels.all() }
func (k Product) LengthScale() float64 { return k.kernels.lengthScale() }

func (k Product) WithLengthScale(scale float64) Kernel { return k.WithParts(k.kernels.rescaled(scale)) }

func (k Product) WithParts(parts []Scaled) Kernel {
	copy(k.kernels[:], parts)
	return k
}

func (k Product) Eval(x, y []float64) float64 {
	product := 1.0
	for _, p := range k.Parts() {
		product *= p.Eval(x, y)
	}
	return product
}

func (k Product) Sample(w []float32, dim int, s *Source) {
	clear(w)
	own := make([]float32, len(w))
	for _, p := range k.Parts() {
		p.Sample(own, dim, s)
		for i, v := range own {
			w[i] += v
		}
	}
}
