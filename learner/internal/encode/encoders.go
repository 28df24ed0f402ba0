package encode

import "math"

// encoder is a way to turn a raw column into columns of numbers.
type encoder struct {
	name  string
	moves bool // it has a table

	// width returns the number of columns that c becomes, 1 or more.
	width func(c *column, p *prior) int

	// apply sets dst, of that width, to the encoded value v.
	apply func(c *column, dst []float64, v float64, p *prior)

	// valid reports whether the parameters of c may be those of this encoder.
	valid func(parameters []float64) bool

	// becomes describes the columns that c becomes.
	becomes func(c *column) string
}

// The encoders. Their order is part of the snapshot format.
var encoders = [...]encoder{numbers, imputed, indicated, absent, oneHot, statistics, cycles}

const (
	asIs = iota
	asImputed
	asIndicated
	asAbsent
	asOneHot
	asStatistics
	asCycles
)

// plan chooses the encoder of a column whose values in the first rows are x[0],
// x[stride], and so on.
func plan(t Type, x []float64, stride int) column {
	rows, missing, mean := 0, 0, 0.0
	for i := 0; i < len(x); i += stride {
		rows++
		if math.IsNaN(x[i]) {
			missing++
			continue
		}
		mean += (bounded(x[i]) - mean) / float64(rows-missing)
	}
	switch {
	case missing == rows || t == Unknown:
		return column{kind: asAbsent}
	case t == Category:
		return planCategory(x, stride)
	case t == Time:
		return column{kind: asCycles}
	case missing == 0:
		return column{kind: asIs}
	case float64(missing) <= indicatedShare*float64(rows):
		return column{kind: asImputed, parameters: []float64{mean}}
	}
	return column{kind: asIndicated, parameters: []float64{mean}}
}

func one(*column, *prior) int { return 1 }

func none(parameters []float64) bool { return len(parameters) == 0 }
