package encode

import (
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// mixedColumns are 50 columns as in docs/performance.md: 20 numbers, 6 of them with missing
// values and 4 as normal scores, 4 booleans, 12 categories of 4 to 16 values, 10 of
// thousands, 3 times and a time since the last record of the key.
func mixedColumns() (types []Type, row func(rng *rand.Rand, x []float64) []float64) {
	add := func(n int, t Type) {
		for range n {
			types = append(types, t)
		}
	}
	add(16, Numeric)
	add(4, Normal)
	add(4, Boolean)
	add(22, Category)
	add(3, Time)
	add(1, Since)
	add(1, RecordKey)
	return types, func(rng *rand.Rand, x []float64) []float64 {
		for j, t := range types {
			v := 0.0
			switch {
			case t == Numeric && j < 6 && rng.IntN(20) == 0:
				v = missingAt(true, 0)
			case t == Numeric || t == Normal:
				v = rng.ExpFloat64()
			case t == Boolean:
				v = float64(rng.IntN(2))
			case t == Category && j < 36:
				v = Key(uint64(rng.IntN(4+j-24)) * 0x9fb21c651e98df25)
			case t == Category || t == RecordKey:
				v = Key(uint64(rng.IntN(5000)) * 0x9fb21c651e98df25)
			default:
				v = 1.7e9 + 1e7*rng.Float64()
			}
			x = append(x, v)
		}
		return x
	}
}

// BenchmarkApply encodes rows of 50 columns, whose tables are full.
func BenchmarkApply(b *testing.B) {
	types, row := mixedColumns()
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 4000
	var x []float64
	for range rows {
		x = row(rng, x)
	}
	labels, weights := make([]target.Label, rows), make([]float64, rows)
	for i := range labels {
		labels[i].Task, labels[i].Class, weights[i] = target.Classification, i%2, 1
	}
	e := NewPlan(types, x[:1000*len(types)], labels[:1000], target.Classification).Start()
	e.Rows(x, labels, weights)
	d := len(types)
	dst := make([]float64, e.Width())
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			e.Apply(dst, x[i%rows*d:(i%rows+1)*d])
		}
	})
	b.Run("learn", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			e.Learn(x[i%rows*d:(i%rows+1)*d], &labels[i%rows], 1)
		}
	})
}
