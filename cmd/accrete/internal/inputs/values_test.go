package inputs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A set of values has as many as a map of them.
func TestValuesAreCountedAsByAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, draw := range []func() float64{
		func() float64 { return float64(r.IntN(300) - 150) },
		func() float64 { return math.Copysign(float64(r.IntN(2)), -1) },
		func() float64 { return float64(r.IntN(1000)) / 1000 },
		r.NormFloat64,
		func() float64 { return math.Inf(r.IntN(2)*2 - 1) },
	} {
		var s values
		want := map[float64]struct{}{}
		for range 2000 {
			v := draw()
			s.add(v)
			want[v] = struct{}{}
			if s.len() != len(want) {
				t.Fatalf("%d values after %v, want %d", s.len(), v, len(want))
			}
		}
	}
}

func BenchmarkTally(b *testing.B) {
	const columns = 784
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([][]float64, 256)
	for i := range rows {
		rows[i] = make([]float64, columns)
		for j := range rows[i] {
			rows[i][j] = float64(max(0, r.IntN(1400)-400)) / 1000
		}
	}
	b.ReportAllocs()
	var tally Tally
	for i := range b.N {
		if tally.Rows == distinctRows {
			tally = Tally{}
		}
		tally.Add(rows[i%len(rows)], nil)
	}
}
