// Package sparse has rows in which most columns are 0.
package sparse

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Row has the columns of a row that are not 0. A column is identified by a hash, of which a model
// uses the low bits. Columns that share these bits are one column for the model.
type Row struct {
	Columns []uint32
	Values  []float32
}

// Len returns the number of columns.
func (r Row) Len() int { return len(r.Columns) }

const (
	// most and least bound the magnitude of a value, so that its coefficient is a valid float32 and
	// its products are finite.
	most, least = 1e20, 1e-20
)

// Append adds a column. It omits a value that is not a number or too small to matter, and bounds a
// huge one.
func (r *Row) Append(column uint32, value float64) {
	if a := math.Abs(value); !(a > least) {
		return
	}
	r.Columns = append(r.Columns, column)
	r.Values = append(r.Values, float32(max(-most, min(most, value))))
}

// Valid reports whether r could be the result of calls of Append.
func (r Row) Valid() bool {
	for _, v := range r.Values {
		if !valid(v) {
			return false
		}
	}
	return len(r.Columns) == len(r.Values)
}

// valid reports whether a value is within its bounds, rounded to 32 bits.
func valid(v float32) bool {
	a := math.Abs(float64(v))
	return a >= least/2 && a <= 2*most
}

// Clear empties r and keeps its memory.
func (r *Row) Clear() { r.Columns, r.Values = r.Columns[:0], r.Values[:0] }

// Rows holds rows one after the other.
type Rows struct {
	all    Row
	bounds []int // start of each row, and the end of the last; nil without rows
}

// Len returns the number of rows.
func (r *Rows) Len() int { return max(0, len(r.bounds)-1) }

// Entries returns the number of columns of all rows.
func (r *Rows) Entries() int {
	if r.Len() == 0 {
		return 0
	}
	return r.bounds[r.Len()] - r.bounds[0]
}

// At returns row i, which shares memory with r.
func (r *Rows) At(i int) Row {
	from, to := r.bounds[i], r.bounds[i+1]
	return Row{r.all.Columns[from:to:to], r.all.Values[from:to:to]}
}

// Append adds a copy of a row.
func (r *Rows) Append(x Row) {
	if len(r.bounds) == 0 {
		r.bounds = append(r.bounds, 0)
	}
	r.all.Columns, r.all.Values = append(r.all.Columns, x.Columns...), append(r.all.Values, x.Values...)
	r.bounds = append(r.bounds, len(r.all.Columns))
}

// Slice returns the rows from index from up to, but not including, to. They share memory with r.
func (r *Rows) Slice(from, to int) Rows {
	if from >= to {
		return Rows{}
	}
	end := r.bounds[to]
	all := Row{r.all.Columns[:end:end], r.all.Values[:end:end]} // so that appended rows do not overwrite those of r
	return Rows{all, r.bounds[from : to+1 : to+1]}
}

// Clear empties r and keeps its memory.
func (r *Rows) Clear() {
	r.all.Clear()
	r.bounds = r.bounds[:0]
}

// Save writes r under names that begin with prefix.
func (r *Rows) Save(a *state.Arrays, prefix string) {
	ends, columns := make([]int64, r.Len()), make([]int64, r.all.Len())
	for i := range ends {
		ends[i] = int64(r.bounds[i+1])
	}
	for i, c := range r.all.Columns {
		columns[i] = int64(c)
	}
	state.Put(a, prefix+".ends", 1, ends)
	state.Put(a, prefix+".columns", 1, columns)
	state.Put(a, prefix+".nonzeros", 1, r.all.Values)
}

// Load reads n rows that Save wrote.
func (r *Rows) Load(s *state.Reader, prefix string, n int) {
	ends := state.Take[int64](s, prefix+".ends", n, 1)
	columns := state.Take[int64](s, prefix+".columns", state.AnySize, 1)
	values := state.Take[float32](s, prefix+".nonzeros", len(columns), 1)
	r.Clear()
	last := int64(0)
	for _, end := range ends {
		s.Require(end >= last && end <= int64(len(columns)), "%s: a row ends at %d of %d", prefix, end, len(columns))
		last = end
		if s.Err != nil {
			return
		}
		if len(r.bounds) == 0 {
			r.bounds = append(r.bounds, 0)
		}
		r.bounds = append(r.bounds, int(end))
	}
	s.Require(last == int64(len(columns)), "%s: %d columns, but the rows have %d", prefix, len(columns), last)
	for i, c := range columns {
		s.Require(c >= 0 && c <= math.MaxUint32, "%s: column %d", prefix, c)
		if s.Err != nil {
			return
		}
		s.Require(valid(values[i]), "%s: a value is %v", prefix, values[i])
		r.all.Columns, r.all.Values = append(r.all.Columns, uint32(c)), append(r.all.Values, values[i])
	}
}
