package encode

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// mostLate is the number of columns of all categories together for the statistics of values that
	// come after the first rows. Not chosen by trial yet: a first guess, see docs/constants.md.
	mostLate = 16

	// lateEntries bounds the values that the table of such a category keeps from one mini-batch to the
	// next. Not chosen by trial yet: a first guess, see docs/constants.md.
	lateEntries = 4096
)

// open is oneHot, followed by columns that tell apart the values which none of the first rows has:
// their late statistics. They are 0 for the values of the first rows. The parameters are the number
// of these values, their keys, and the parameters of the late statistics.
var open = encoder{
	name:  "open",
	moves: true,
	width: func(c *column, _ *prior) int { return c.known() + 1 + c.late() },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		clear(dst)
		n := c.known()
		if i := slices.Index(c.knownKeys(), float64(keyOf(v))); i >= 0 {
			dst[i] = 1
			return
		}
		dst[n] = 1
		c.lateStatistics(dst[n+1:], v, p)
	},
	valid: func(parameters []float64) bool {
		if len(parameters) == 0 || !(parameters[0] >= 1 && parameters[0] <= maxOneHot) || parameters[0] != math.Trunc(parameters[0]) {
			return false
		}
		to := 1 + int(parameters[0])
		return to < len(parameters) && oneHot.valid(parameters[1:to]) && validLate(parameters[to:])
	},
	becomes: func(c *column) string { return oneHotOf(c.known()) + ", target statistic of others" },
}

// known returns the number of values of an open category that have a column.
func (c *column) known() int { return int(c.parameters[0]) }

// knownKeys returns the keys of these values.
func (c *column) knownKeys() []float64 { return c.parameters[1 : 1+c.known()] }

// late returns the number of targets that c has late statistics of.
func (c *column) late() int { return len(c.lateParameters()) / 2 }

// lateParameters returns the standard deviation of each target that c has late statistics of, and
// its credibility.
func (c *column) lateParameters() []float64 {
	switch c.kind {
	case asOpen:
		return c.parameters[1+c.known():]
	case asAwaited:
		return c.parameters[1:]
	}
	return nil
}

func validLate(parameters []float64) bool {
	for k := 0; k+1 < len(parameters); k += 2 {
		if d := parameters[k]; !(d > 0 && d <= math.MaxFloat64) || !credibilities(parameters[k+1:k+2]) {
			return false
		}
	}
	return len(parameters)%2 == 0
}

// lateStatistics sets dst to the late statistics of a value, which are 0 if no row that has been
// learned has it: those of statistics, minus the means of the targets, in standard deviations of the
// targets. In the first rows they are constant, so that no scale for them can be found there.
func (c *column) lateStatistics(dst []float64, v float64, p *prior) {
	n, sums := c.table.find(keyOf(v))
	if sums == nil {
		return
	}
	parameters := c.lateParameters()
	for k := range dst {
		deviation, a := parameters[2*k], parameters[2*k+1]
		dst[k] = bounded(float64(sums[k]-float64(n*p.mean(k))) / (n + a) / deviation)
	}
}

// learns reports whether the table of c has statistics of the value v.
func (c *column) learns(v float64) bool {
	switch c.kind {
	case asOpen:
		return !slices.Contains(c.knownKeys(), float64(keyOf(v)))
	case asAwaited:
		return c.holds() == holdsCategories && !math.IsNaN(v)
	}
	return c.table != nil
}

// mostEntries returns the number of values that the table of c keeps.
func (c *column) mostEntries() int {
	if c.kind == asOpen || c.kind == asAwaited {
		return lateEntries
	}
	return maxEntries
}

// open prepares e for what is absent or rare in the first rows x: further values of a category that has
// a column for each value, values of a column without any, and a few missing values on which the labels
// seem to depend.
func (e *Encoding) open(types []Type, x []float64, labels []target.Label) {
	deviations := e.prior.deviations(labels)
	var late []int // columns with late statistics
	awaited := 0
	for j := range e.columns {
		c := &e.columns[j]
		if c.kind == asAbsent && awaited < mostLate {
			if *c = await(types[j]); c.kind != asAbsent {
				awaited++
			}
			if encoders[c.kind].moves {
				c.table = newTable(len(e.prior.sums))
			}
		}
		if of := indicatedKinds[c.kind]; of != 0 && e.prior.tells(x[j:], len(e.columns), labels, deviations) {
			c.kind = of
		}
		if c.kind == asOneHot || c.kind == asAwaited {
			late = append(late, j)
		}
	}
	if targets := min(len(e.prior.sums), mostLate/max(1, len(late))); targets > 0 {
		for _, j := range late {
			c := &e.columns[j]
			if c.kind == asOneHot {
				c.kind, c.parameters = asOpen, slices.Insert(c.parameters, 0, float64(len(c.parameters)))
				c.table = newTable(len(e.prior.sums))
			}
			a := e.prior.credibility(c, x[j:], len(e.columns), labels)
			for k, d := range deviations[:targets] {
				c.parameters = append(c.parameters, d, a[k])
			}
		}
	}
}

// deviations returns the deviation of each target.
func (p *prior) deviations(labels []target.Label) []float64 {
	all := make([]float64, len(p.sums))
	for k := range all {
		y := make([]float64, len(labels))
		for i := range labels {
			y[i] = p.target(&labels[i], k)
		}
		all[k] = p.deviation(y)
	}
	return all
}

// deviation returns the standard deviation of the labels y of a target, without outliers; 1 if they
// are constant.
func (p *prior) deviation(y []float64) float64 {
	if !p.classes {
		y = target.Inliers(y)
	}
	unit, mean, squares := 0.0, 0.0, 0.0
	for i, v := range y {
		mean += (v - mean) / float64(i+1)
	}
	for _, v := range y {
		unit = max(unit, math.Abs(v-mean))
	}
	for _, v := range y {
		d := (v - mean) / unit
		squares += float64(d * d)
	}
	if d := unit * math.Sqrt(squares/float64(len(y))); d > 0 && d <= math.MaxFloat64 {
		return d
	}
	return 1
}
