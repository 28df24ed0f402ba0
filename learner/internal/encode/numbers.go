package encode

import "github.com/accrete-ml/accrete/learner/internal/target"

// numbers leaves numbers as they are. A value that is missing although none was in the
// first rows stays NaN, which the scaler replaces by the centre of the column.
var numbers = encoder{
	name:    "number",
	width:   one,
	apply:   func(_ *column, dst []float64, v float64, _ *prior) { dst[0] = v },
	valid:   none,
	becomes: func(*column) string { return "number" },
}

// absent is a column that had no value in the first rows. It becomes the constant 0.
var absent = encoder{
	name:    "absent",
	width:   one,
	apply:   func(_ *column, dst []float64, _ float64, _ *prior) { dst[0] = 0 },
	valid:   none,
	becomes: func(*column) string { return "nothing: it had no value in the warm-up" },
}

func bounded(v float64) float64 { return target.Bounded(v) }
