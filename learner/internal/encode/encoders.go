package encode

import "math"

// encoder is a way to turn a raw column into columns of numbers.
type encoder struct {
	name  string
	moves bool // it has a table

	// width returns the number of columns that c becomes.
	width func(c *column, p *prior) int

	// apply sets dst, of that width, to the encoded value v.
	apply func(c *column, dst []float64, v float64, p *prior)

	// valid reports whether the parameters of c may be those of this encoder.
	valid func(parameters []float64) bool

	// becomes describes the columns that c becomes.
	becomes func(c *column) string

	// as makes "numeric:" + as a type of columns, of numbers, whose encoder this is. It is
	// empty if plan chooses the encoder for the types of types.go.
	as string

	// planned returns the parameters for the values in the first rows of a column of that
	// type, of which at least one is not missing. It is nil if there are no parameters.
	planned func(x []float64, stride int) []float64
}

// The encoders. Their order is part of the snapshot format.
var encoders = [...]encoder{numbers, imputed, indicated, absent, oneHot, statistics, cycles, text, normal, normalIndicated, trend, since, decayed, sourced, ordered, open, awaited, coded, grams, unseen}

const (
	asIs = iota
	asImputed
	asIndicated
	asAbsent
	asOneHot
	asStatistics
	asCycles
	asText
	asNormal
	asNormalIndicated
	asTrend
	asSince
	asDecayed
	asSourced
	asOrdered
	asOpen
	asAwaited
	asCoded
	asGrams
	asUnseen
)

// plan chooses the encoder of a column whose values in the first rows are x[0],
// x[stride], and so on.
func plan(t Type, x []float64, stride int) column {
	mean, rows, missing := meanOf(x, stride)
	switch {
	case t == Source:
		return column{kind: asSourced}
	case missing == rows || t == Unknown || t == RecordKey:
		return column{kind: asAbsent}
	case t.encoder() != nil:
		return planOwn(t, x, stride)
	case t.HalfLife() > 0:
		return column{kind: asDecayed, parameters: []float64{float64(t.HalfLife())}}
	case t == Category || t == Pair:
		return planCategory(x, stride)
	case t == Time || t == Since:
		return column{kind: asCycles}
	case t == Trend:
		return column{kind: asTrend, parameters: []float64{mean}}
	}
	few := float64(missing) <= indicatedShare*float64(rows)
	if t == Normal {
		if p := normalScores(x, stride); p != nil && few {
			return column{kind: asNormal, parameters: p}
		} else if p != nil {
			return column{kind: asNormalIndicated, parameters: p}
		}
	}
	switch {
	case missing == 0:
		return column{kind: asIs}
	case few:
		return column{kind: asImputed, parameters: []float64{mean}}
	}
	return column{kind: asIndicated, parameters: []float64{mean}}
}

// meanOf returns the mean of the values x[0], x[stride], and so on, without those that are missing, and
// the numbers of all values and of missing ones.
func meanOf(x []float64, stride int) (mean float64, rows, missing int) {
	for i := 0; i < len(x); i += stride {
		rows++
		if math.IsNaN(x[i]) {
			missing++
			continue
		}
		mean += (bounded(x[i]) - mean) / float64(rows-missing)
	}
	return mean, rows, missing
}

func planOwn(t Type, x []float64, stride int) column {
	c := column{kind: int(t - firstOwn)}
	if planned := t.encoder().planned; planned != nil {
		c.parameters = planned(x, stride)
	}
	return c
}

func one(*column, *prior) int { return 1 }

func none(parameters []float64) bool { return len(parameters) == 0 }
