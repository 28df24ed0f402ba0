package encode

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learner/internal/target"
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

// indicatedKinds has the encoders that add an indicator of missing numbers to others.
var indicatedKinds = [len(encoders)]int{asImputed: asIndicated, asNormal: asNormalIndicated}

const (
	// tellingErrors is the number of standard errors by which the mean of a target in rows with a
	// missing value differs from that of all rows, from which on few missing values get an indicator.
	// Not chosen by trial: see docs/constants.md.
	tellingErrors = 5

	// leastTelling is the least number of such rows. Not chosen by trial: see docs/constants.md.
	leastTelling = 4
)

// tells reports whether the mean of a target differs in the rows where the values x[0], x[stride], and
// so on, are missing. The standard deviations of the targets are given.
func (p *prior) tells(x []float64, stride int, labels []target.Label, deviations []float64) bool {
	for k, deviation := range deviations {
		n, missing, mean, among := 0.0, 0.0, 0.0, 0.0
		for i := range labels {
			y := p.target(&labels[i], k)
			n++
			mean += (y - mean) / n
			if math.IsNaN(x[i*stride]) {
				missing++
				among += (y - among) / missing
			}
		}
		if missing >= leastTelling && math.Abs(among-mean)*math.Sqrt(missing) > tellingErrors*deviation {
			return true
		}
	}
	return false
}
