package encode

import "math"

// text passes on the share of the n-grams of a text that fall into a bucket. It is 0 for a missing
// text.
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
