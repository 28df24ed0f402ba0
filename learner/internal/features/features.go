// Package features stands in for the random features until they are there.
package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

type Kernel interface {
	String() string
	Eval(x, y []float64) float64
}

type Gaussian struct{ Scale float64 }

func (k Gaussian) String() string { return fmt.Sprintf("gaussian:%v", k.Scale) }
func (k Gaussian) Eval(x, y []float64) float64 {
	var s float64
	for i := range x {
		d := x[i] - y[i]
		s += float64(d * d)
	}
	return math.Exp(-s / (2 * k.Scale * k.Scale))
}

func ParseKernel(s string) (Kernel, error) {
	name, arg, _ := strings.Cut(s, ":")
	v, err := strconv.ParseFloat(arg, 64)
	if name != "gaussian" || err != nil || !(v > 0) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("no kernel is named %q", s)
	}
	return Gaussian{v}, nil
}

type Map struct {
	Kernel     Kernel
	Dim, Width int
	Seed       uint64
}

func (m Map) Frequencies(dst []float32, block int) {
	r := rand.New(rand.NewPCG(m.Seed, uint64(block)))
	for i := range dst {
		dst[i] = float32(r.NormFloat64() / m.Kernel.(Gaussian).Scale)
	}
}

type Bank struct {
	m Map
	w []float32
	n int
}

func NewBank(m Map) *Bank { return &Bank{m: m} }

func (b *Bank) Grow(blocks int) {
	size := b.m.Dim * b.m.Width
	for ; b.n < blocks; b.n++ {
		b.w = append(b.w, make([]float32, size)...)
		b.m.Frequencies(b.w[b.n*size:], b.n)
	}
}

func (b *Bank) Blocks() int { return b.n }

func (b *Bank) angle(j int, x []float32) float64 {
	var s float32
	for i, w := range b.w[j*b.m.Dim : (j+1)*b.m.Dim] {
		s += w * x[i]
	}
	return float64(s)
}

func (b *Bank) Sum(dst []float64, x, coef []float32, outputs int) {
	d := b.m.Dim
	for r := range len(x) / d {
		out := dst[r*outputs : (r+1)*outputs]
		clear(out)
		for j := range b.n * b.m.Width {
			s, c := math.Sincos(b.angle(j, x[r*d:(r+1)*d]))
			for k := range out {
				out[k] += c*float64(coef[2*j*outputs+k]) + s*float64(coef[(2*j+1)*outputs+k])
			}
		}
	}
}

func (b *Bank) Gradient(dst []float64, block int, x []float32, g []float64, outputs int) {
	clear(dst)
	d := b.m.Dim
	for r := range len(x) / d {
		for i := range b.m.Width {
			s, c := math.Sincos(b.angle(block*b.m.Width+i, x[r*d:(r+1)*d]))
			for k := range outputs {
				dst[2*i*outputs+k] += c * g[r*outputs+k]
				dst[(2*i+1)*outputs+k] += s * g[r*outputs+k]
			}
		}
	}
}
