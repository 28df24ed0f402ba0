package machine

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/member"
)

// The score of a row that is beyond the range is that of the row within it, plus what it adds.
func TestScoresHaveWhatIsBeyondTheRange(t *testing.T) {
	m := &Machine{ahead: []float64{1, 2, 3, 4}}
	for _, test := range []struct {
		row  member.Row
		want [2]float64
	}{
		{member.Row{At: 1}, [2]float64{3, 4}},
		{member.Row{At: 1, Beyond: []float64{0.5, -8}}, [2]float64{3.5, -4}},
	} {
		var f [2]float64
		if !m.Score(f[:], &test.row) || f != test.want {
			t.Errorf("%+v: the scores are %v, want %v", test.row, f, test.want)
		}
	}
}
