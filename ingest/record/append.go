package record

import (
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// own returns a copy of b, so that a prediction does not keep the memory of the
// input record, which may be that of a whole batch.
func (e *Encoder) own(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(e.room(len(b)), b...)
}

// appendNumbers appends first, or the list of first and more.
func appendNumbers(b []byte, first float64, more []float64) []byte {
	if len(more) == 0 {
		return strconv.AppendFloat(b, first, 'g', -1, 64)
	}
	b = strconv.AppendFloat(append(b, '['), first, 'g', -1, 64)
	for _, v := range more {
		b = strconv.AppendFloat(append(b, ','), v, 'g', -1, 64)
	}
	return append(b, ']')
}

// appendIntervals appends the interval of a predicted number, or the list of those of
// several, and nothing while there is none.
func appendIntervals(b []byte, r learner.Intervals, row []float64) []byte {
	if !r.Valid() {
		return b
	}
	b = append(b, intervalMember...)
	for j, v := range row {
		switch {
		case j > 0:
			b = append(b, ',')
		case len(row) > 1:
			b = append(b, '[')
		}
		low, high := r.Bounds(v, j)
		b = appendNumbers(b, low, []float64{high})
	}
	if len(row) > 1 {
		b = append(b, ']')
	}
	return b
}

// appendQuantiles appends the quantiles of a number by their levels, each a list for
// several targets, and nothing unless there are several quantiles.
func appendQuantiles(b []byte, q learner.Quantiles, row []float64) []byte {
	if !q.Valid() {
		return b
	}
	b = append(b, quantilesMember...)
	for i, tau := range q.Taus {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(append(b, '"'), tau, 'g', -1, 64)
		b = append(b, `":`...)
		if len(row) > len(q.Taus) {
			b = append(b, '[')
		}
		for at := i; at < len(row); at += len(q.Taus) {
			if at > i {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, row[at], 'g', -1, 64)
		}
		if len(row) > len(q.Taus) {
			b = append(b, ']')
		}
	}
	return append(b, '}')
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			const hexDigits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
