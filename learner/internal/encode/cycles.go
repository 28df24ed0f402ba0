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
	name:    "cycles",
	width:   func(*column, *prior) int { return 2 * len(periods) },
	apply:   func(_ *column, dst []float64, v float64, _ *prior) { cyclesOf(dst, v) },
	valid:   none,
	becomes: func(*column) string { return "sine and cosine of day, week and year" },
}

// trend adds the time itself, in seconds, to the cycles. A missing time is the mean of the
// first rows, the parameter.
var trend = encoder{
	name:  "trend",
	width: func(*column, *prior) int { return 2*len(periods) + 1 },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		last := len(dst) - 1
		cyclesOf(dst[:last], v)
		impute(c, dst[last:], bounded(v), p)
	},
	valid:   func(parameters []float64) bool { return len(parameters) == 1 },
	becomes: func(*column) string { return "sine and cosine of day, week and year, and the time" },
}

func cyclesOf(dst []float64, v float64) {
	clear(dst)
	if math.IsNaN(v) {
		return
	}
	for i, period := range periods {
		dst[2*i], dst[2*i+1] = vec.Sincos(float64(math.Mod(bounded(v), period)/period) * (2 * math.Pi))
	}
}
