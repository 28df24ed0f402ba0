package encode

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// periods are the day, the week and the mean year of the Gregorian calendar, in seconds.
var periods = [...]float64{86400, 7 * 86400, 365.2425 * 86400}

// cycles turns a time into the sine and the cosine of its place in each period. A
// missing time becomes zeros.
var cycles = encoder{
	name:  "cycles",
	width: func(*column, *prior) int { return 2 * len(periods) },
	apply: func(_ *column, dst []float64, v float64, _ *prior) {
		clear(dst)
		if math.IsNaN(v) {
			return
		}
		for i, period := range periods {
			dst[2*i], dst[2*i+1] = vec.Sincos(float64(math.Mod(bounded(v), period)/period) * (2 * math.Pi))
		}
	},
	valid:   none,
	becomes: func(*column) string { return "sine and cosine of day, week and year" },
}
