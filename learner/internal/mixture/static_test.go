package mixture

import (
	"math/rand/v2"
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
		s.Apply(f, []float32{float32(test.x)}, nil, []float64{0}, func(int) sparse.Row { return sparse.Row{} })
		if d := f[0] - test.want; d > 1e-6 || d < -1e-6 {
			t.Errorf("input %v, engine %v: the score is %v, want %v", test.x, test.engine, f[0], test.want)
		}
	}
}

// The linear part of each score is a sum in the order of the inputs, however many scores there are.
func TestLinearScoresAreSumsInOrder(t *testing.T) {
	const inputs = 5
	r := rand.New(rand.NewPCG(3, 4))
	for scores := 1; scores <= 9; scores++ {
		s := Static{Engine: make([]float64, scores)}
		for range scores * (inputs + 1) {
			s.Linear = append(s.Linear, r.Float32()-.5)
		}
		x := make([]float32, 3*inputs)
		for i := range x {
			x[i] = r.Float32() - .5
		}
		got := make([]float64, 3*scores)
		s.Apply(got, x, nil, make([]float64, len(got)), func(int) sparse.Row { return sparse.Row{} })
		for i := range got {
			w := s.Linear[i%scores*(inputs+1) : (i%scores+1)*(inputs+1)]
			want := float64(w[inputs])
			for j, v := range x[i/scores*inputs : (i/scores+1)*inputs] {
				want += float64(float64(w[j]) * float64(v))
			}
			if got[i] != want {
				t.Errorf("%d scores: score %d of row %d is %v, want %v", scores, i%scores, i/scores, got[i], want)
			}
		}
	}
}
