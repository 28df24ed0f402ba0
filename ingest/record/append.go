package record

import (
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// own returns a copy of b, so that a prediction does not keep the input record in
// memory, and with it the whole batch of the record.
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

// appendIntervals appends the interval of a predicted number, or a list of intervals for
// several numbers. It appends nothing while the model has no intervals.
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

// appendVariances appends the variance of a predicted number, or a list of n variances for
// n numbers.
func appendVariances(b []byte, r learner.Intervals, n int) []byte {
	more := make([]float64, 0, n-1)
	for j := 1; j < n; j++ {
		more = append(more, r.Variance(j))
	}
	return appendNumbers(append(b, varianceMember...), r.Variance(0), more)
}

// appendQuantiles appends an object with the quantiles by level. With several targets,
// each member is a list with one number for each target. It appends nothing unless the
// model predicts several quantiles.
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
