package history

import (
	"cmp"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// absentRows is the number of records without a value after which a column counts as
// missing.
const absentRows = 1000

// absence finds the columns that have vanished from the records, and those that are back.
type absence struct {
	rows  int64
	began int64   // value of rows when the count began
	last  []int64 // number of the row with the last value of each column
	gone  []bool
	n     int // columns that are gone

	// lacked counts, for each column, the records without a value since the last absentRows records
	// were complete.
	lacked []float64
	since  int64     // number of records in lacked
	whole  []float64 // lacked for the last absentRows records; nil once it was reported
}

// add adds a row. It reports whether a column that was gone is back.
func (a *absence) add(x []float64) (back bool) {
	a.rows++
	if len(a.last) != len(x) {
		a.size(len(x))
	}
	for j, v := range x {
		if v == v {
			a.last[j] = a.rows
			back = back || a.gone[j]
		} else {
			a.lacked[j]++
		}
	}
	if a.since++; a.since == absentRows {
		a.whole, a.lacked, a.since = a.lacked, make([]float64, len(x)), 0
	}
	return back
}

// size begins the count for n columns, as if all of them had a value in this record. If columns
// were adopted, the count for the earlier columns continues.
func (a *absence) size(n int) {
	if len(a.last) > 0 && n > len(a.last) {
		for a.whole = nil; len(a.last) < n; {
			a.last, a.gone, a.lacked = append(a.last, a.rows), append(a.gone, false), append(a.lacked, 0)
		}
		return
	}
	*a = absence{rows: a.rows, last: make([]int64, n), gone: make([]bool, n), lacked: make([]float64, n)}
	for j := range a.last {
		a.last[j] = a.rows
	}
	a.began = a.rows
}

// resume sets which columns are gone, and returns their number. If such a column has had no value
// since the count began, it counts as missing for absentRows records already.
func (a *absence) resume(s *decode.Schema, gone []string) int {
	if len(a.last) != len(s.Columns) {
		a.size(len(s.Columns))
	}
	a.n = 0
	for _, f := range s.Fields() {
		if a.gone[f.At] = slices.Contains(gone, f.Name); !a.gone[f.At] {
			continue
		}
		if a.n++; a.last[f.At] <= a.began {
			a.last[f.At] = a.rows - absentRows
		}
	}
	return a.n
}

// changes returns the fields that have vanished, and those that are back, since its last call. It
// returns nil if there are none.
func (a *absence) changes(s *decode.Schema) *event.Columns {
	var c event.Columns
	if len(s.Columns) != len(a.last) {
		return nil
	}
	for _, f := range s.Fields() {
		is := a.rows-a.last[f.At] >= absentRows && !f.Pair
		switch {
		case is && !a.gone[f.At] && len(c.Gone) == modellog.MaxNames, !is && a.gone[f.At] && len(c.Back) == modellog.MaxNames:
			continue // reported with a later BATCH
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

// shares returns the columns that most often lacked a value in the last absentRows records, in
// descending order and at most event.MaxShares of them. It returns nil if it has returned these
// shares already.
func (a *absence) shares(s *decode.Schema) (all []event.MissingShare) {
	if a.whole == nil || len(s.Columns) != len(a.whole) {
		return nil
	}
	for _, f := range s.Fields() {
		if !f.Pair {
			all = append(all, event.MissingShare{Column: f.Name, Share: a.whole[f.At] / absentRows})
		}
	}
	a.whole = nil
	slices.SortStableFunc(all, func(x, y event.MissingShare) int { return cmp.Compare(y.Share, x.Share) })
	return all[:min(len(all), event.MaxShares)]
}
