// Package warmup chooses the scale of the columns, their weights, the scale of the kernel
// and the penalty from the first rows of a stream.
package warmup

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Fit is what the warm-up chooses from the first rows. It is a pure function of them
// and of the Request.
type Fit struct {
	Encoding      *encode.Encoding // plan for the raw rows; nil if the model sees them as they are
	Scaler        Scaler
	Scales        []target.Scale // of the targets; 0 and 1 for classes
	inliers       [][2]float64   // ranges of the targets: see newScales
	Kernel        kernel.Kernel
	Second        []float32          // factors of the scaled columns for half of the frequencies; nil for one kernel
	Leverage      *features.Leverage // for the sampling of the frequencies; nil for others
	Lambda        float64            // weight of ‖f‖²/2 beside the mean loss of a row, chosen by leave-one-out
	TopEigenvalue float64            // largest eigenvalue of the kernel's matrix on the rows / their number
}

// topRows is the number of rows that the largest eigenvalue is computed on, which
// takes time that grows with its square.
const topRows = 512

// Request has the conditions of a fit.
type Request struct {
	Version  Version
	Task     target.Task
	Kernel   kernel.Kernel // without a scale, the fit chooses one; Auto: it chooses the kernel, too
	Scaled   bool          // the rows are those of a given metric already
	Single   bool          // one kernel, not two
	Leverage bool          // compute the leverage of the frequencies
	Fixed    FixedFeatures // of a model with few features
	Quick    bool          // choose on fewer rows, see quickCompared
	Robust   bool          // scale inputs and targets without outliers
	Trees    bool          // the model has trees, which split categories by random orders

	Columns []encode.Type // of a raw row; nil if all are numeric
	Weights []float64     // of the rows
	Folds   int           // see encode.Encoding.OutOfFold
	Scores  bool          // numbers may become normal scores
}

// NewFit fits to rows of dim raw values and their labels.
func NewFit(x []float64, labels []target.Label, dim int, a Request) Fit {
	f := Fit{}
	f.Scales, f.inliers = newScales(labels, a.Task, a.Robust)
	a.Columns, f.Encoding = a.scores(a.plan(x, labels, dim), x, labels, dim, f)
	if f.Encoding != nil {
		e, raw := f.Encoding.Start(), x
		x, dim = e.Rows(raw, labels, a.Weights), f.Encoding.Width()
		e.OutOfFold(x, raw, labels, a.Weights, a.Folds)
		a.Fixed.Dim = dim
	}
	if k, ok := a.Kernel.(kernel.Auto); ok {
		a.Kernel = a.among(k.Candidates(), x, labels, dim, f)
	}
	f.Scaler = a.scaler(x, dim)
	f.hide()
	seen := f.scaled(x, dim)
	a.Single = a.Single || !features.AllowsSecond(a.Kernel, features.IID)
	f.tune(sample{version: a.Version, dim: dim, x: seen}, labels, a)
	f.hide()
	seen = f.scaled(x[:min(len(x), min(topRows, a.finalRows(len(labels)))*dim)], dim)
	f.TopEigenvalue = f.topEigenvalue(sample{version: a.Version, dim: dim, x: seen})
	if a.Leverage {
		f.Leverage = f.leverage(x, dim)
	}
	return f
}

// scaler returns the scaler of rows of dim values, as the kernel and the conditions need it.
func (a *Request) scaler(x []float64, dim int) Scaler {
	if a.Scaled {
		return noScaler(dim)
	}
	switch k := a.Kernel.(type) {
	case kernel.Mapped:
		return newMappedScaler(x, dim, k)
	case kernel.Bounded:
		return newPositiveScaler(x, dim, k)
	}
	if a.Robust {
		x = WithoutOutliers(x, dim)
	}
	if a.Version >= Seventh {
		return newScaler(x, dim, surpriseClip)
	}
	return NewScaler(x, dim)
}

// hidden is the weight of a column that is for trees alone. It is so small that the kernel does not
// see the column. Trees are not affected, because their thresholds have the same unit.
const hidden = 1e-6

// hide sets the weight of the columns that are for trees alone.
func (f *Fit) hide() {
	for j := range f.Encoding.ForTrees {
		f.Scaler.ColumnWeights[j] = hidden
		if f.Second != nil {
			f.Second[j] = 1
		}
	}
}

// plan returns the encoding of raw rows of dim values, or nil if there is none. Rows
// under a given metric are numbers.
func (a *Request) plan(x []float64, labels []target.Label, dim int) *encode.Encoding {
	if a.Scaled {
		return nil
	}
	columns := a.Columns
	if columns == nil {
		columns = make([]encode.Type, dim)
	}
	plan := encode.NewPlan
	if a.Version >= Sixteenth && a.Task != target.Novelty {
		plan = encode.NewOpenPlan
	}
	e := plan(columns, x, labels, a.Task)
	if a.Version >= Tenth {
		e.Credit(x, labels)
		if a.Trees {
			e.Order()
		}
	}
	return e
}

// Width returns the number of values of a row as the model sees it, of dim raw ones.
func (f *Fit) Width(dim int) int {
	if f == nil || f.Encoding == nil {
		return dim
	}
	return f.Encoding.Width()
}

// newScales returns the scales that standardise the targets of these labels. With robust it also
// returns a range of each target outside of which labels are outliers, and these do not count for
// the scales.
func newScales(labels []target.Label, task target.Task, robust bool) (scales []target.Scale, inliers [][2]float64) {
	if task != target.Regression {
		return []target.Scale{{Deviation: 1}}, nil
	}
	y := make([]float64, len(labels))
	for j := range labels[0].Targets() {
		for i, l := range labels {
			y[i] = target.Bounded(l.At(j))
		}
		counted := y
		if robust {
			lo, hi := target.InlierRange(y)
			inliers, counted = append(inliers, [2]float64{lo, hi}), target.Inliers(y)
		}
		c := NewColumn(counted, 1)
		u := target.Scale{Mean: c.Mean, Deviation: 1}
		if !c.constant() {
			u.Deviation = c.Deviation
		}
		scales = append(scales, u)
	}
	return scales, inliers
}

// outlier reports whether target j of y is an outlier.
func (f *Fit) outlier(y target.Label, j int) bool {
	v := target.Bounded(y.At(j))
	return f.inliers != nil && !(v >= f.inliers[j][0] && v <= f.inliers[j][1])
}

// Bank returns the random features of a model, without blocks.
func (f *Fit) Bank(m features.Map) *features.Bank {
	m.Kernel, m.Second, m.Leverage = f.Kernel, f.Second, f.Leverage
	return features.NewBank(m)
}

// scaled returns the rows x as the model sees them.
func (f *Fit) scaled(x []float64, dim int) []float64 {
	scaled := make([]float64, len(x))
	row := make([]float32, dim)
	for i := 0; i < len(x); i += dim {
		f.Scaler.Apply(row, x[i:i+dim])
		for j, v := range row {
			scaled[i+j] = float64(v)
		}
	}
	return scaled
}

// atSame returns the kernel's value at two equal rows.
func (f *Fit) atSame(x []float64) float64 { return atSame(f.Kernel, x) }

func atSame(k kernel.Kernel, x []float64) float64 {
	if _, own := k.(kernel.Featured); own {
		return k.Eval(x, x)
	}
	return 1
}

// topEigenvalue returns the largest eigenvalue of the matrix of the kernel, or of the
// mean of both kernels, on n rows, divided by n.
func (f *Fit) topEigenvalue(s sample) float64 {
	x, dim, n := s.x, s.dim, s.rows()
	m := newMatrix(n)
	defer releaseMatrix(m)
	clear(m)
	radial, _ := f.Kernel.(kernel.Radial)
	add := func(x []float64, weight float64) {
		if s.version >= Sixth && radial != nil {
			s.x = x
			values, scale := s.distances(Ones(dim)), radial.LengthScale()
			for i := range n {
				row := values[i*n : i*n+i+1]
				radial.EvalSquared(row, row, scale*scale)
				for j, v := range row {
					m[i*n+j] += float64(weight * v)
					m[j*n+i] = m[i*n+j]
				}
			}
			releaseMatrix(values)
			return
		}
		for i := range n {
			m[i*n+i] += float64(weight * f.atSame(x[i*dim:(i+1)*dim]))
			for j := range i {
				v := float64(weight * f.Kernel.Eval(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]))
				m[i*n+j] += v
				m[j*n+i] += v
			}
		}
	}
	if f.Second == nil {
		add(x, 1)
	} else {
		add(x, 0.5)
		other := make([]float64, len(x))
		for i, v := range x {
			other[i] = float64(v * float64(f.Second[i%dim]))
		}
		add(other, 0.5)
	}
	return vec.MaxEigenvalue(m, n) / float64(n)
}
