package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// The names of the benchmarks have a key for each dimension, for benchstat -col
// /isa. m is the number of frequencies and C that of scores; GF/s counts the
// products w·x alone.

// each runs f with every instruction set.
func each(b *testing.B, f func(b *testing.B, isa string)) {
	defer vec.Select(vec.ISA())
	for _, isa := range vec.ISAs() {
		vec.Select(isa)
		f(b, isa)
	}
}

func report(b *testing.B, dim, rows, m int) {
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(2*float64(dim*rows*m)/seconds/1e9, "GF/s")
	b.ReportMetric(float64(rows)/seconds, "ex/s")
	b.ReportMetric(seconds*1e9/float64(rows*m), "ns/frequency")
}

// newBank returns a bank with stored frequencies, with ones generated in each call
// ("made"), or with SORF.
func newBank(dim, m int, w string) *Bank {
	sampling := IID
	if w == "sorf" {
		sampling = SORF
	}
	b := NewBank(Map{Kernel: kernel.Gaussian{Scale: math.Sqrt(float64(dim))}, Dim: dim, Sampling: sampling})
	if w == "made" {
		b.Limit(0)
	}
	b.Grow(m / DefaultBlockSize)
	return b
}

func BenchmarkPredict(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	each(b, func(b *testing.B, isa string) {
		for _, c := range []struct {
			w               string
			dim, rows, m, c int
		}{
			{"stored", 10, 1024, 4096, 1}, {"stored", 54, 1024, 4096, 1}, {"stored", 123, 64, 5120, 1}, {"stored", 784, 1024, 2048, 1},
			{"stored", 784, 1024, 2048, 10}, {"stored", 10, 1, 2048, 1}, {"stored", 54, 1, 2048, 1}, {"stored", 54, 1, 2048, 10},
			{"made", 100, 64, 8192, 1}, {"stored", 100, 64, 8192, 1}, {"made", 100, 1024, 8192, 1}, {"stored", 100, 1024, 8192, 1},
			{"stored", 128, 1024, 4096, 1}, {"sorf", 128, 1024, 4096, 1}, {"stored", 1024, 256, 4096, 1}, {"sorf", 1024, 256, 4096, 1},
		} {
			if isa == "generic" && c.dim*c.rows*c.m > 1e8 {
				continue
			}
			b.Run(fmt.Sprintf("isa=%s/w=%s/d=%d/B=%d/m=%d/C=%d", isa, c.w, c.dim, c.rows, c.m, c.c), func(b *testing.B) {
				bank := newBank(c.dim, c.m, c.w)
				x, coef, sum := rows(r, c.rows, c.dim), rows(r, 2*c.m, c.c), make([]float64, c.rows*c.c)
				for b.Loop() {
					bank.Sum(sum, x, coef, c.c)
				}
				report(b, c.dim, c.rows, c.m)
			})
		}
	})
}

// BenchmarkFeatures computes 512 features of a row of 20 inputs.
func BenchmarkFeatures(b *testing.B) {
	bank := newBank(20, 512, "stored")
	x, phi := rows(rand.New(rand.NewPCG(5, 6)), 1, 20), make([]float32, 2*512)
	for range b.N {
		bank.Features(phi, 0, x)
	}
}

func BenchmarkGradient(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	each(b, func(b *testing.B, isa string) {
		for _, c := range []struct{ dim, rows, m, c int }{{54, 128, 32, 1}, {54, 128, 2048, 1}, {54, 1024, 2048, 10}} {
			if isa == "generic" && c.dim*c.rows*c.m > 1e8 {
				continue
			}
			b.Run(fmt.Sprintf("isa=%s/d=%d/B=%d/m=%d/C=%d", isa, c.dim, c.rows, c.m, c.c), func(b *testing.B) {
				bank := newBank(c.dim, c.m, "stored")
				x, g, gradient := rows(r, c.rows, c.dim), make([]float64, c.rows*c.c), make([]float64, 2*c.m*c.c)
				for i := range g {
					g[i] = r.NormFloat64()
				}
				for b.Loop() {
					bank.Gradient(gradient, 0, x, g, c.c)
				}
				report(b, c.dim, c.rows, c.m)
			})
		}
	})
}

// BenchmarkGrow generates and packs frequencies.
func BenchmarkGrow(b *testing.B) {
	each(b, func(b *testing.B, isa string) {
		b.Run(fmt.Sprintf("isa=%s/d=100/m=8192", isa), func(b *testing.B) {
			for b.Loop() {
				newBank(100, 8192, "stored")
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(100*8192), "ns/number")
		})
	})
}

// BenchmarkPeak measures the yardstick in the same run.
func BenchmarkPeak(b *testing.B) {
	each(b, func(b *testing.B, isa string) {
		if vec.Peak(1) == 0 {
			return
		}
		b.Run("isa="+isa, func(b *testing.B) {
			sum := 0.0
			for b.Loop() {
				sum += vec.Peak(1e6)
			}
			b.ReportMetric(sum/b.Elapsed().Seconds()/1e9, "GF/s")
		})
	})
}
