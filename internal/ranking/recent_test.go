package ranking

import (
	"reflect"
	"testing"
)

// The figures are those of a Meter of the last rows, at least RecentRows and fewer than
// twice as many.
func TestRecentCoversTheLastRows(t *testing.T) {
	type example struct {
		p                float64
		predicted, class int
	}
	var all []example
	r, state := NewRecent(), uint32(1)
	random := func() float64 {
		state = state*1664525 + 1013904223
		return float64(state>>8) / (1 << 24)
	}
	for i := range 3*RecentRows + 7 {
		x := example{p: random()}
		if random() < x.p*float64(i)/30000 { // it gets better
			x.class = 1
		}
		if x.p > 0.5 {
			x.predicted = 1
		}
		all = append(all, x)
		r.Add([]float64{1 - x.p, x.p}, x.predicted, x.class, 1)
		r.AddCost(x.p, float64(x.class), 1)
		if n := i + 1; n%4999 == 0 || n == 3*RecentRows || n == cap(all) {
			from := max(0, (n-1)/RecentRows-1) * RecentRows
			want := New(true)
			for _, x := range all[from:] {
				want.Add([]float64{1 - x.p, x.p}, x.predicted, x.class, 1)
				want.AddCost(x.p, float64(x.class), 1)
			}
			if got := r.Figures(0.9); !reflect.DeepEqual(got, want.Figures(0.9)) {
				t.Fatalf("after %d rows: %+v, want those of the rows from %d on, %+v", n, got, from, want.Figures(0.9))
			}
			if covered := n - from; n >= 2*RecentRows && (covered <= RecentRows || covered > 2*RecentRows) {
				t.Fatalf("after %d rows %d are covered", n, covered)
			}
		}
	}
}
