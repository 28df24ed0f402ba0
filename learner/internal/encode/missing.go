package encode

import (
	"fmt"
	"math"
)

// indicatedShare is the share of missing values above which a column gets an indicator
// of them. Chosen by trial, see docs/constants.md.
const indicatedShare = 0.01

// imputed replaces missing numbers by the mean of the first rows, its parameter.
var imputed = encoder{
	name:    "imputed",
	width:   one,
	apply:   impute,
	valid:   func(parameters []float64) bool { return len(parameters) == 1 },
	becomes: func(c *column) string { return fmt.Sprintf("number, missing as %.4g", c.parameters[0]) },
}

// indicating returns apply with an indicator of missing numbers in the second column.
func indicating(apply func(*column, []float64, float64, *prior)) func(*column, []float64, float64, *prior) {
	return func(c *column, dst []float64, v float64, p *prior) {
		apply(c, dst, v, p)
		dst[1] = 0
		if math.IsNaN(v) {
			dst[1] = 1
		}
	}
}

// indicated adds an indicator of missing numbers to imputed ones.
var indicated = encoder{
	name:  "indicated",
	width: func(*column, *prior) int { return 2 },
	apply: indicating(impute),
	valid: func(parameters []float64) bool { return len(parameters) == 1 },
	becomes: func(c *column) string {
		return fmt.Sprintf("number, missing as %.4g, and an indicator of missing", c.parameters[0])
	},
}

func impute(c *column, dst []float64, v float64, _ *prior) {
	if dst[0] = v; math.IsNaN(v) {
		dst[0] = c.parameters[0]
	}
}
