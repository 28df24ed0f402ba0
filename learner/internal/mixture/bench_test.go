package mixture

import (
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// BenchmarkRow predicts a row and takes its label.
func BenchmarkRow(b *testing.B) {
	for _, of := range []struct {
		name    string
		task    target.Task
		classes int
	}{{"number", target.Regression, 0}, {"classes=2", target.Classification, 2}, {"classes=26", target.Classification, 26}} {
		b.Run("of="+of.name, func(b *testing.B) {
			const dim, n = 20, 16 * ChunkRows
			rng := rand.New(rand.NewPCG(17, 18))
			h := target.NewHead(nil, of.task, of.classes, 1)
			m := New(h, Options{})
			rows, labels, weights := make([]float32, n*dim), make([]target.Label, n), make([]float64, n)
			for i := range rows {
				rows[i] = float32(rng.NormFloat64())
			}
			for i := range labels {
				labels[i], weights[i] = target.Label{Task: of.task, Value: rng.NormFloat64()}, 1
				if of.classes > 0 {
					labels[i] = target.Label{Task: of.task, Class: rng.IntN(of.classes)}
				}
			}
			columns := make([]float64, dim)
			for i := range columns {
				columns[i] = 1
			}
			m.early = labels
			m.Start(&h, columns, 0, rows, labels, weights)
			k, size := h.Scores(), h.PredictionSize()
			engine, f, p := make([]float64, k), make([]float64, k), make([]float64, size)
			i := 0
			for b.Loop() {
				at := i % n
				if i%ChunkRows == 0 {
					m.Begin(rows[at*dim:(at+ChunkRows)*dim], ChunkRows)
				}
				for c := range engine {
					engine[c] = float64(rows[at*dim+c%dim])
				}
				r := Row{Row: member.Row{Head: &h, At: i % ChunkRows, X: rows[at*dim : (at+1)*dim], Last: labels[(at+n-1)%n]}, Engine: engine}
				m.Predict(f, p, &r)
				m.Update(&r, p, p, labels[at], 1)
				if i++; i%ChunkRows == 0 {
					m.Commit()
				}
			}
		})
	}
}
