package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// The shares are those of a count over the last thousand rows, the largest first and each
// reported once, however the rows are cut into BATCHes.
func TestSharesOfMissingValuesAreThoseOfACount(t *testing.T) {
	s := &decode.Schema{}
	for i := range event.MaxShares + 5 {
		s.Columns = append(s.Columns, string(rune('a'+i)))
	}
	rng := rand.New(rand.NewPCG(3, 1))
	var a absence
	var rows [][]float64
	reports := 0
	for len(rows) < 5*absentRows {
		for range 1 + rng.IntN(300) {
			x := make([]float64, len(s.Columns))
			for j := range x {
				if rng.IntN(len(x)) < j {
					x[j] = math.NaN()
				}
			}
			rows = append(rows, x)
			a.add(x)
		}
		got := a.shares(s)
		if got == nil {
			continue
		}
		reports++
		if len(got) != event.MaxShares || a.shares(s) != nil {
			t.Fatalf("%d shares, or they come twice", len(got))
		}
		end := len(rows) / absentRows * absentRows
		for i, c := range got {
			n := 0.0
			for _, x := range rows[end-absentRows : end] {
				if math.IsNaN(x[c.Column[0]-'a']) {
					n++
				}
			}
			if c.Share != n/absentRows || i > 0 && c.Share > got[i-1].Share {
				t.Errorf("after %d rows, place %d: %+v, want %v", len(rows), i, c, n/absentRows)
			}
		}
	}
	if reports != len(rows)/absentRows {
		t.Errorf("%d reports of %d rows", reports, len(rows))
	}
}
