package warmup

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// clip is the number of standard deviations up to which scaling is linear. Beyond it
// grows with the logarithm: outliers would make the angle of a feature inaccurate and a
// linear term too large. There is no maximum, because a counter or a clock leaves the
// range of the first rows for good, and its values must stay distinct. Chosen by trial,
// see docs/constants.md.
const clip = 8

// Clipped returns v, which is in standard deviations, as the model sees it.
func Clipped(v float64) float64 {
	if a := math.Abs(v); a > clip {
		return math.Copysign(clip+float64(clip/2*vec.Log(min(a, math.MaxFloat64)/clip)), v)
	}
	return v
}

// surpriseClip takes the place of clip for a column that is constant in the warm-up, from the
// version Seventh on. The unit in which the column will vary is not known, and a distance of many
// units must not be much larger than one of a single unit. Chosen by trial, see docs/constants.md.
const surpriseClip = 2

// Scaler scales raw columns so that one kernel scale is right for all of them.
type Scaler struct {
	Center, Scale []float64
	ColumnWeights []float64 // root of the weight of each column
	AsIs          bool      // the rows are scaled already, and only rounded

	Map kernel.Mapped // the kernel, if it is one of a function of the columns; otherwise nil
}

// noScaler returns the scaler of rows that are scaled already.
func noScaler(dim int) Scaler {
	return Scaler{Center: make([]float64, dim), Scale: Ones(dim), ColumnWeights: Ones(dim), AsIs: true}
}

// Apply sets dst to the scaled values of x, and to 0, which is the centre, for NaN. They
// are rounded to float32 here and not before.
func (s Scaler) Apply(dst []float32, x []float64) {
	for i, v := range x {
		if s.AsIs {
			dst[i] = float32(v)
			continue
		}
		if v != v { // missing, where no row of the warm-up missed it
			dst[i] = 0
			continue
		}
		if s.Map != nil {
			v = s.Map.Input(target.Bounded(v))
		}
		dst[i] = float32(Clipped((target.Bounded(v)-s.Center[i])*s.Scale[i]) * s.ColumnWeights[i])
	}
}

// newMappedScaler fits a scaler to what the kernel maps the values to. With a scale of
// its own the kernel is that of the paper, and the columns are not scaled.
func newMappedScaler(x []float64, dim int, k kernel.Mapped) Scaler {
	mapped := make([]float64, len(x))
	for i, v := range x {
		mapped[i] = k.Input(target.Bounded(v))
	}
	s := NewScaler(mapped, dim)
	if s.Map = k; HasScale(k) {
		s.Scale = Ones(dim)
	}
	return s
}

// newPositiveScaler fits a scaler that keeps 0, and so histograms: columns get the standard
// deviation 1, or one factor for all, as those of NewScaler. With a scale of its own the
// kernel is that of the rows as they are.
func newPositiveScaler(x []float64, dim int, k kernel.Kernel) Scaler {
	s := NewScaler(x, dim)
	for j := range dim {
		if c := NewColumn(x[j:], dim); c.constant() {
			s.Scale[j] = 1 / max(1, c.Mean)
		}
	}
	s.Center = make([]float64, dim)
	if HasScale(k) {
		s.Scale = Ones(dim)
	}
	return s
}

const (
	// Rows with more than sparseShare of zeros are sparse. Their columns have a range
	// in common if the widest is at most commonRange times the median. Chosen by trial.
	sparseShare = 0.7
	commonRange = 4
)

// NewScaler fits a scaler to rows of dim values. Columns get mean 0 and
// standard deviation 1, unless the rows are sparse and their columns already
// have a range in common, such as indicators and pixels: they keep their
// proportions, because a rare indicator's standard deviation says how rare it
// is and not in which unit it is measured.
func NewScaler(x []float64, dim int) Scaler { return newScaler(x, dim, clip) }

// newScaler is NewScaler with another clip for constant columns, unless the columns have a range in
// common. Apply clips all columns at clip: so a constant column is first multiplied by
// clip/constantClip, and its column weight is the inverse of that.
func newScaler(x []float64, dim int, constantClip float64) Scaler {
	s := Scaler{Center: make([]float64, dim), Scale: make([]float64, dim), ColumnWeights: Ones(dim)}
	ranges := make([]float64, 0, dim) // of the columns that vary
	zeros := 0
	for j := range dim {
		c := NewColumn(x[j:], dim)
		s.Center[j], s.Scale[j] = c.Mean, 1
		if !c.constant() {
			s.Scale[j] = 1 / c.Deviation
			ranges = append(ranges, c.top-c.bottom)
		} else {
			s.Scale[j], s.ColumnWeights[j] = clip/constantClip, constantClip/clip
		}
		zeros += c.zeros
	}
	if float64(zeros) <= sparseShare*float64(len(x)) || len(ranges) == 0 {
		return s
	}
	slices.Sort(ranges)
	if widest := ranges[len(ranges)-1]; widest <= commonRange*ranges[len(ranges)/2] {
		for j := range dim {
			s.Center[j], s.Scale[j], s.ColumnWeights[j] = 0, 1/widest, 1
		}
	}
	return s
}

// WithoutOutliers returns the rows x, in which the median of the column replaces numbers that are
// so large that they would leave the others without a scale. It returns x itself if there are none.
// Such a number is further away than an outlier among labels, because a kernel machine also sees
// the tails of a column.
func WithoutOutliers(x []float64, dim int) []float64 {
	out, n := x, len(x)/dim
	y := make([]float64, n)
	for j := range dim {
		c := NewColumn(x[j:], dim)
		if !(max(c.top-c.Mean, c.Mean-c.bottom) > min(8, 0.4*math.Sqrt(float64(n)))*c.Deviation) {
			continue // outliers would be further away than that
		}
		for i := range y {
			y[i] = target.Bounded(x[i*dim+j])
		}
		lo, hi := target.InlierRange(y)
		half := float64(inputWidths * (float64(hi/2) - float64(lo/2)))
		median := float64(lo/2) + float64(hi/2)
		for i, v := range y {
			if math.Abs(v-median) <= half || math.IsInf(half, 1) {
				continue
			}
			if &out[0] == &x[0] {
				out = slices.Clone(x)
			}
			out[i*dim+j] = median
		}
	}
	return out
}

// inputWidths is the distance at which an input is an outlier, as a multiple of the distance at
// which a label is one. Chosen by trial, see docs/constants.md.
const inputWidths = 10

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

const (
	// roundingShare is the deviation, relative to the values, that rounding can cause:
	// that of a float32.
	roundingShare = 1e-7

	// minDeviation is the least deviation that can be divided by.
	minDeviation = 1e-290
)

// constant reports whether a column varies by its rounding only.
func (c column) constant() bool {
	return c.Deviation <= roundingShare*max(math.Abs(c.top), math.Abs(c.bottom)) || c.Deviation < minDeviation
}
