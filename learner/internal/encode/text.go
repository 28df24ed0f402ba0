package encode

import "math"

// text leaves the share of the n-grams of a text in a bucket as it is. A missing text
// has none.
var text = encoder{
	name:  "text",
	width: one,
	apply: func(_ *column, dst []float64, v float64, _ *prior) {
		if dst[0] = bounded(v); math.IsNaN(v) {
			dst[0] = 0
		}
	},
	valid:   none,
	becomes: func(*column) string { return "hashed n-grams" },
}
