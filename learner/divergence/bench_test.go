package divergence

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMonitor adds 32 rows at a time after the reference.
func BenchmarkMonitor(b *testing.B) {
	for _, dim := range []int{5, 20, 100, 1000} {
		b.Run(fmt.Sprint(dim), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			x := make([]float64, 2048*dim)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			m := NewMonitor(dim, BlockRows)
			add := func(x []float64) {
				for len(x) > 0 {
					n, _ := m.Add(x)
					x = x[n*dim:]
				}
			}
			add(x)
			at := 0
			for b.Loop() {
				add(x[at*32*dim : (at+1)*32*dim])
				at = (at + 1) % 64
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/row")
		})
	}
}
