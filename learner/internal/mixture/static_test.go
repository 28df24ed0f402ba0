package mixture

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/sparse"
)

// TestWildInputsMoveAScorerByTheShareOfLinearMembers: what these add is within the limits times
// their share, so that the engine still counts.
func TestWildInputsMoveAScorerByTheShareOfLinearMembers(t *testing.T) {
	const share, lo, hi = 0.1, -3.0, 5.0
	s := Static{Engine: []float64{1 - share}, Linear: []float32{share * 2, share * 1}, Limits: []float64{share * lo, share * hi, lo, hi}}
	for _, test := range []struct{ x, engine, want float64 }{
		{0.5, 1, (1-share)*1 + share*2}, {1e20, 1, (1-share)*1 + share*hi}, {-1e20, 1, (1-share)*1 + share*lo},
		{0.5, 1e20, hi}, {0.5, -1e20, lo},
	} {
		f := []float64{test.engine}
		s.Apply(f, []float32{float32(test.x)}, []float64{0}, func(int) sparse.Row { return sparse.Row{} })
		if d := f[0] - test.want; d > 1e-6 || d < -1e-6 {
			t.Errorf("input %v, engine %v: the score is %v, want %v", test.x, test.engine, f[0], test.want)
		}
	}
}
