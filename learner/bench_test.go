package learner

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkExample is one row predicted and learned by a model with 2,048 features
// and a full window, in batches of 1,000.
func BenchmarkExample(b *testing.B) {
	for _, dim := range []int{20, 123} {
		for _, classes := range []int{2, 10} {
			b.Run(fmt.Sprintf("dim=%d/classes=%d", dim, classes), func(b *testing.B) {
				l, err := New(Config{MaxFeatures: 2048})
				if err != nil {
					b.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				batch := new(Batch)
				batch.Reset(dim)
				x := make([]float64, dim)
				for i := range 1000 {
					for j := range x {
						x[j] = rng.NormFloat64()
					}
					batch.Append(x, Label{Task: Classification, Class: min(i, rng.IntN(classes))}, 1)
				}
				rows := func(n int) {
					for rest := batch.Slice(0, n); rest.Len() > 0; {
						p := l.Predict(rest)
						rest = rest.Slice(p.Len(), rest.Len())
						l.Learn(p)
					}
				}
				for l.labelled < 2*8192 {
					rows(1000)
				}
				b.ResetTimer()
				for n := b.N; n > 0; n -= 1000 {
					rows(min(n, 1000))
				}
			})
		}
	}
}

// BenchmarkRidge is one row learned by ridge, all four members together.
func BenchmarkRidge(b *testing.B) {
	for _, features := range []int{128, 256} { // frequencies, of two features each
		b.Run(fmt.Sprintf("features=%d", features), func(b *testing.B) {
			l, rows := newLearner(b, Config{Algorithm: "ridge", MaxFeatures: features, Kernel: "gaussian:4"}), new(Batch)
			rng := rand.New(rand.NewPCG(1, 2))
			rows.Reset(20)
			x := make([]float64, 20)
			for range 4096 {
				for j := range x {
					x[j] = rng.NormFloat64()
				}
				rows.Append(x, class(x[0]*x[1] > 0), 1)
			}
			learn(l, rows, 1000)
			b.ResetTimer()
			for n := b.N; n > 0; n -= 1024 {
				learn(l, rows.Slice(0, min(n, 1024)), 1024)
			}
		})
	}
}

// BenchmarkPredict is one row predicted by itself.
func BenchmarkPredict(b *testing.B) {
	l, _ := New(Config{})
	rng := rand.New(rand.NewPCG(1, 2))
	batch := new(Batch)
	batch.Reset(10)
	x := make([]float64, 10)
	for range 10_000 {
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		batch.Append(x, class(x[0]*x[1] > 0), 1)
	}
	learn(l, batch, 1000)
	m, err := NewModel(l.State().Serving)
	if err != nil {
		b.Fatal(err)
	}
	one := batch.Slice(0, 1)
	b.ResetTimer()
	for range b.N {
		m.Predict(one)
	}
}

// BenchmarkFirstRows is the first rows of a model with all defaults of new ones, whose fits do not
// run beside it.
func BenchmarkFirstRows(b *testing.B) {
	for _, rows := range []int{500, 1250} {
		for _, dim := range []int{8, 20} {
			b.Run(fmt.Sprintf("rows=%d/dim=%d", rows, dim), func(b *testing.B) {
				c, err := Config{Mixture: true, Discard: true, NormalScores: true, Warmup: NewestWarmup}.WithForest("auto", false)
				if err != nil {
					b.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				batch, x := new(Batch), make([]float64, dim)
				batch.Reset(dim)
				for range rows {
					for j := range x {
						x[j] = rng.NormFloat64()
					}
					batch.Append(x, class(x[0]*x[1]+x[2]+0.3*rng.NormFloat64() > 0), 1)
				}
				for b.Loop() {
					l, err := New(c)
					if err != nil {
						b.Fatal(err)
					}
					learn(l, batch, 256)
					l.Finish()
				}
			})
		}
	}
}
