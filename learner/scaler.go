package learner

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// clip is how many standard deviations a scaled column goes in a straight line.
// From there on it grows with the logarithm: a value far off would make the angle
// of a feature coarse, and a linear term explode. But it is no end, because a
// counter or a clock leaves the values of the first rows behind for good, and
// what comes later is not all the same.
const clip = 8

// clipped is v, which counts standard deviations, as the model sees it.
func clipped(v float64) float64 {
	if a := math.Abs(v); a > clip {
		return math.Copysign(clip+float64(clip/2*vec.Log(min(a, math.MaxFloat64)/clip)), v)
	}
	return v
}

// scaler brings raw columns to where one bandwidth fits all of them.
type scaler struct {
	center, scale []float64
	metric        []float64 // factor of each column after that: how much it matters
	asIs          bool      // rows come as the model sees them, and only get rounded
}

// noScaler is for rows that come scaled.
func noScaler(dim int) scaler {
	return scaler{center: make([]float64, dim), scale: ones(dim), metric: ones(dim), asIs: true}
}

// apply sets dst to the scaled values of x, rounded to float32 here and
// nowhere before.
func (s scaler) apply(dst []float32, x []float64) {
	for i, v := range x {
		if s.asIs {
			dst[i] = float32(v)
			continue
		}
		dst[i] = float32(clipped((bounded(v)-s.center[i])*s.scale[i]) * s.metric[i])
	}
}

// newScaler fits a scaler to rows of dim values. Columns get mean 0 and
// standard deviation 1, unless the rows are sparse and their columns already
// have a range in common, such as indicators and pixels: they keep their
// proportions, because a rare indicator's standard deviation says how rare it
// is and not in which unit it is measured.
func newScaler(x []float64, dim int) scaler {
	s := scaler{center: make([]float64, dim), scale: make([]float64, dim), metric: ones(dim)}
	ranges := make([]float64, 0, dim) // of the columns that vary
	zeros := 0
	for j := range dim {
		c := newColumn(x[j:], dim)
		s.center[j], s.scale[j] = c.mean, 1
		if !c.constant() {
			s.scale[j] = 1 / c.deviation
			ranges = append(ranges, c.top-c.bottom)
		}
		zeros += c.zeros
	}
	if float64(zeros) <= 0.7*float64(len(x)) || len(ranges) == 0 {
		return s
	}
	slices.Sort(ranges)
	if widest := ranges[len(ranges)-1]; widest <= 4*ranges[len(ranges)/2] {
		for j := range dim {
			s.center[j], s.scale[j] = 0, 1/widest
		}
	}
	return s
}

// column describes one column.
type column struct {
	mean, deviation float64
	bottom, top     float64
	zeros           int
}

// newColumn describes the column whose values are x[0], x[stride], and so on.
func newColumn(x []float64, stride int) column {
	c := column{bottom: math.Inf(1), top: math.Inf(-1)}
	n := 0.0
	for i := 0; i < len(x); i += stride {
		v := bounded(x[i])
		c.bottom, c.top = min(c.bottom, v), max(c.top, v)
		if v == 0 {
			c.zeros++
		}
		n++
		c.mean += (v - c.mean) / n
	}
	// Deviations are taken in units of the largest, so that their squares are
	// neither zero nor infinite.
	unit := max(c.top-c.mean, c.mean-c.bottom)
	if unit == 0 {
		return c
	}
	sum := 0.0
	for i := 0; i < len(x); i += stride {
		d := (bounded(x[i]) - c.mean) / unit
		sum += float64(d * d)
	}
	c.deviation = unit * math.Sqrt(sum/n)
	return c
}

// constant says whether all that varies in a column is its rounding. It is
// judged by the column's own size: another column's says nothing about it.
func (c column) constant() bool {
	return c.deviation <= 1e-7*max(math.Abs(c.top), math.Abs(c.bottom)) || c.deviation < 1e-290
}
