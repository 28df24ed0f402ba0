package history

import (
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// absentRows is the number of records without a value after which a column counts as
// missing.
const absentRows = 1000

// absence finds the columns that have vanished from the records, and those that are back.
type absence struct {
	rows int64
	last []int64 // record with the last value of each column
	gone []bool
	n    int // columns that are gone
}

// add adds a row. It reports whether a column that was gone is back.
func (a *absence) add(x []float64) (back bool) {
	a.rows++
	if len(a.last) != len(x) {
		*a = absence{rows: a.rows, last: make([]int64, len(x)), gone: make([]bool, len(x))}
		for j := range a.last {
			a.last[j] = a.rows
		}
	}
	for j, v := range x {
		if v == v {
			a.last[j] = a.rows
			back = back || a.gone[j]
		}
	}
	return back
}

// changes returns the fields that have vanished and those that are back since it was called
// last, and nil if there are none.
func (a *absence) changes(s *decode.Schema) *event.Columns {
	var c event.Columns
	if len(s.Columns) != len(a.last) {
		return nil
	}
	for _, f := range s.Fields() {
		is := a.rows-a.last[f.At] >= absentRows
		switch {
		case is && !a.gone[f.At]:
			c.Gone, a.n = append(c.Gone, f.Name), a.n+1
		case !is && a.gone[f.At]:
			c.Back, a.n = append(c.Back, f.Name), a.n-1
		}
		a.gone[f.At] = is
	}
	if c.Missing = a.n; c.Gone == nil && c.Back == nil {
		return nil
	}
	return &c
}
