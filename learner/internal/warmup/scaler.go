package warmup

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// clip is how many standard deviations a scaled column goes in a straight line.
// From there on it grows with the logarithm: a value far off would make the angle
// of a feature coarse, and a linear term explode. But it is no end, because a
// counter or a clock leaves the values of the first rows behind for good, and
// what comes later is not all the same.
const clip = 8

// Clipped is v, which counts standard deviations, as the model sees it.
func Clipped(v float64) float64 {
	if a := math.Abs(v); a > clip {
		return math.Copysign(clip+float64(clip/2*vec.Log(min(a, math.MaxFloat64)/clip)), v)
	}
	return v
}

// Scaler brings raw columns to where one bandwidth fits all of them.
type Scaler struct {
	Center, Scale []float64
	ColumnWeights []float64 // factor of each column after that: how much it matters
	AsIs          bool      // rows come as the model sees them, and only get rounded
}

// noScaler is for rows that come scaled.
func noScaler(dim int) Scaler {
	return Scaler{Center: make([]float64, dim), Scale: Ones(dim), ColumnWeights: Ones(dim), AsIs: true}
}

// Apply sets dst to the scaled values of x, rounded to float32 here and
// nowhere before.
func (s Scaler) Apply(dst []float32, x []float64) {
	for i, v := range x {
		if s.AsIs {
			dst[i] = float32(v)
			continue
		}
		dst[i] = float32(Clipped((target.Bounded(v)-s.Center[i])*s.Scale[i]) * s.ColumnWeights[i])
	}
}

// NewScaler fits a scaler to rows of dim values. Columns get mean 0 and
// standard deviation 1, unless the rows are sparse and their columns already
// have a range in common, such as indicators and pixels: they keep their
// proportions, because a rare indicator's standard deviation says how rare it
// is and not in which unit it is measured.
func NewScaler(x []float64, dim int) Scaler {
	s := Scaler{Center: make([]float64, dim), Scale: make([]float64, dim), ColumnWeights: Ones(dim)}
	ranges := make([]float64, 0, dim) // of the columns that vary
	zeros := 0
	for j := range dim {
		c := NewColumn(x[j:], dim)
		s.Center[j], s.Scale[j] = c.Mean, 1
		if !c.constant() {
			s.Scale[j] = 1 / c.Deviation
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
			s.Center[j], s.Scale[j] = 0, 1/widest
		}
	}
	return s
}

// column describes one column.
type column struct {
	Mean, Deviation float64
	bottom, top     float64
	zeros           int
}

// NewColumn describes the column whose values are x[0], x[stride], and so on.
func NewColumn(x []float64, stride int) column {
	c := column{bottom: math.Inf(1), top: math.Inf(-1)}
	n := 0.0
	for i := 0; i < len(x); i += stride {
		v := target.Bounded(x[i])
		c.bottom, c.top = min(c.bottom, v), max(c.top, v)
		if v == 0 {
			c.zeros++
		}
		n++
		c.Mean += (v - c.Mean) / n
	}
	// Deviations are taken in units of the largest, so that their squares are
	// neither zero nor infinite.
	unit := max(c.top-c.Mean, c.Mean-c.bottom)
	if unit == 0 {
		return c
	}
	sum := 0.0
	for i := 0; i < len(x); i += stride {
		d := (target.Bounded(x[i]) - c.Mean) / unit
		sum += float64(d * d)
	}
	c.Deviation = unit * math.Sqrt(sum/n)
	return c
}

// constant says whether all that varies in a column is its rounding. It is
// judged by the column's own size: another column's says nothing about it.
func (c column) constant() bool {
	return c.Deviation <= 1e-7*max(math.Abs(c.top), math.Abs(c.bottom)) || c.Deviation < 1e-290
}
