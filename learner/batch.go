package learner

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Task is what a model predicts: the probability of each class, one or several numbers, or the
// novelty of a row. The first label of a stream settles it where the configuration does not. Its
// String and its text form are names that ParseTask reads.
type Task = target.Task

// The tasks.
const (
	Auto           = target.Auto // not settled yet
	Classification = target.Classification
	Regression     = target.Regression
	Novelty        = target.Novelty
)

// ParseTask reads the name of a task: "auto", "classification", "regression" or
// "novelty".
func ParseTask(s string) (Task, error) { return target.ParseTask(s) }

// Label is what an example teaches: its Task, and the index of its Class, in the
// order in which classes appeared, or its Value, with the other targets of a
// regression of several in More. The zero value is the absence of a label: the
// example is predicted only. What is to be learned for Novelty therefore has a Label
// with this Task, although nothing has to be known about it. Its fields and methods are:
//
//	Task  Task      // Classification, Regression or Novelty; Auto if there is no label
//	Class int       // for Novelty, what is known about the row: see KnownNovel
//	Value float64   // the first target
//	More  []float64 // further targets; nil if there is only one
//
//	func (*Label) Targets() int     // the number of targets
//	func (*Label) At(j int) float64 // target j
type Label = target.Label

// MaxTargets is the maximum number of targets of a label.
const MaxTargets = target.MaxTargets

// Best returns the index of the largest of p, the first one if several are equal.
func Best(p []float64) int { return target.Best(p) }

// What the Class of a Label of Novelty says about the row, for those who grade scores.
const (
	Unlabelled  = target.Unlabelled // nothing
	KnownNormal = target.KnownNormal
	KnownNovel  = target.KnownNovel
)

// Novel reports whether a prediction of novelty, its score and its threshold, flags the
// row. There is none before the first fit of the warm-up.
func Novel(prediction []float64) bool { return target.Novel(prediction) }

// Batch is a run of examples, laid out for the learner: raw values, a label and
// a weight each. It has one owner, who may Reset and fill it again after
// every PredictedBatch over it has been learned. Reset sets the number of values of its rows, which
// is 0 in the zero value.
type Batch struct {
	dim     int
	x       []float64 // row-major; NaN is a missing value
	labels  []Label
	more    []float64 // memory of the labels' More
	weights []float64
	keys    []string
	types   []ColumnType // of the columns; nil if all are numeric
	windows *Windows     // nil if there are none
	fresh   []bool       // examples that Observe has not seen; empty without windows
	times   []float64    // of the first examples, see SetTime; nil if there are none
	classes []string     // names, see SetClasses
	kept    [][]float64  // predictions of the first examples that were made earlier, see Learner.Keep; nil if there are none
	sparse  *sparse.Rows // sparse parts of the first examples; nil if there are none
	resets  int          // calls of Reset
}

// Reset empties b for examples of dim values and keeps its memory.
func (b *Batch) Reset(dim int) {
	b.dim = dim
	b.resets++
	b.x, b.labels, b.more, b.weights, b.keys, b.types, b.kept = b.x[:0], b.labels[:0], b.more[:0], b.weights[:0], b.keys[:0], nil, nil
	b.times, b.classes = b.times[:0], nil
	b.windows, b.fresh = nil, b.fresh[:0]
	if b.sparse != nil {
		b.sparse.Clear()
	}
}

// Grow makes room for that many more examples.
func (b *Batch) Grow(examples int) {
	b.x = slices.Grow(b.x, examples*b.dim)
	b.labels = slices.Grow(b.labels, examples)
	b.weights = slices.Grow(b.weights, examples)
}

// Append adds a copy of x and of y. It panics if x is not of the batch's dimension:
// checking what comes off the wire is the decoder's work.
//
// A value of x is NaN if it is missing. Other values, and the targets of y, have a magnitude of at
// most 1e30, which decoders require: infinities become ±1e30, and larger numbers can make a State
// that cannot be restored. A label with a target that is NaN is no label. A weight is limited to the
// range from 0 to 1e9, and NaN is 0.
func (b *Batch) Append(x []float64, y Label, weight float64) {
	if len(x) != b.dim {
		panic(fmt.Sprintf("learner: example has %d values, the rows of the batch have %d: call Reset with the number of inputs first", len(x), b.dim))
	}
	b.x = append(b.x, x...)
	bound(b.x[len(b.x)-len(x):])
	if y.Task == Regression && hasNaN(&y) {
		y = Label{}
	}
	y.Value = finite(y.Value)
	if n := len(b.more); y.More != nil {
		b.more = append(b.more, y.More...)
		bound(b.more[n:])
		y.More = b.more[n:len(b.more):len(b.more)]
	}
	b.labels = append(b.labels, y)
	b.weights = append(b.weights, weight)
	b.keys = append(b.keys, "")
	if b.windows != nil {
		b.fresh = append(b.fresh, false)
	}
}

// bound leaves one representation of NaN in x, as the state is hashed, and no infinity, as it has
// finite numbers.
func bound(x []float64) {
	for i, v := range x {
		if v != v {
			x[i] = math.NaN()
		} else {
			x[i] = finite(v)
		}
	}
}

// mostMagnitude is that of the values and targets of an example, as decoders require it by default.
const mostMagnitude = 1e30

// finite returns v, and for an infinity the number of the largest magnitude with its sign.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.Copysign(mostMagnitude, v)
	}
	return v
}

// hasNaN reports whether a target of y is NaN.
func hasNaN(y *Label) bool {
	return math.IsNaN(y.Value) || slices.ContainsFunc(y.More, math.IsNaN)
}

// derive resets b to rows of dim values without labels, lets set fill in each row, and returns b.
func (b *Batch) derive(rows, dim int, set func(x []float64, i int)) *Batch {
	b.Reset(dim)
	b.x = state.Extend(b.x, rows*dim)
	for i := range rows {
		set(b.x[i*dim:(i+1)*dim], i)
	}
	bound(b.x)
	return b
}

// SetKey sets the key of the last example, which is empty otherwise. The lags of an
// example are earlier ones of the same key, and a metric may have a part for a key.
func (b *Batch) SetKey(key string) { b.keys[b.last("SetKey")] = key }

// last returns the index of the last example, which a method sets something of.
func (b *Batch) last(method string) int {
	if len(b.labels) == 0 {
		panic("learner: " + method + " needs an example: call Append before")
	}
	return len(b.labels) - 1
}

// SetTime sets the event time of the last example, in seconds since 1970. NaN means that it has
// none, which is the default. See Config.HalfLife.
func (b *Batch) SetTime(seconds float64) {
	last := b.last("SetTime")
	for len(b.times) < len(b.labels) {
		b.times = append(b.times, math.NaN())
	}
	b.times[last] = seconds
}

// time returns the event time of example i.
func (b *Batch) time(i int) float64 {
	if i < len(b.times) {
		return b.times[i]
	}
	return math.NaN()
}

// SetClasses sets the names of the classes of the labels, which Config.Balance may refer to.
// The Batch keeps the slice.
func (b *Batch) SetClasses(names []string) { b.classes = names }

// SetTypes sets the types of the columns, as they are known at the last example. The Batch keeps
// the slice, which must not change. Without types, all columns are numeric.
func (b *Batch) SetTypes(types []ColumnType) { b.types = types }

// Sparse holds the non-zero columns of a row that has very many columns. Its methods are:
//
//	func (*Sparse) Append(column uint32, value float64) // adds a column, by a hash of its name; omits 0 and NaN
//	func (Sparse) Len() int                             // the number of columns
//	func (Sparse) Valid() bool                          // whether calls of Append could have made it
//	func (*Sparse) Clear()                              // removes all columns and keeps the memory
//
// Its fields Columns ([]uint32) and Values ([]float32) have the columns in the order of Append.
type Sparse = sparse.Row

// SetSparse sets the sparse part of the last example to a copy of x: see Config.Sparse. It
// panics unless the values of x are as its method Append leaves them, and if the example has a
// sparse part already.
func (b *Batch) SetSparse(x Sparse) {
	if x.Len() == 0 {
		return
	}
	last := b.last("SetSparse")
	if b.sparse != nil && b.sparse.Len() > last {
		panic("learner: the example has a sparse part already")
	}
	if !x.Valid() {
		panic("learner: a sparse value is 0 or not finite: add columns with Append")
	}
	if b.sparse == nil {
		b.sparse = new(sparse.Rows)
	}
	for b.sparse.Len() < last {
		b.sparse.Append(Sparse{})
	}
	b.sparse.Append(x)
}

// Sparse returns the sparse part of example i, which shares memory with b.
func (b *Batch) Sparse(i int) Sparse {
	if b.sparse == nil || i >= b.sparse.Len() {
		return Sparse{}
	}
	return b.sparse.At(i)
}

// Entries returns the number of columns in the sparse parts of all examples.
func (b *Batch) Entries() int {
	if b.sparse == nil {
		return 0
	}
	return b.sparse.Entries()
}

// Key returns the key of example i.
func (b *Batch) Key(i int) string { return b.keys[i] }

// Len returns the number of examples.
func (b *Batch) Len() int { return len(b.labels) }

// Dim returns the number of values in an example.
func (b *Batch) Dim() int { return b.dim }

// X returns the values of example i, which share memory with b.
func (b *Batch) X(i int) []float64 {
	x := b.x[:len(b.x):len(b.x)] // without the memory of earlier examples
	return x[i*b.dim : (i+1)*b.dim : (i+1)*b.dim]
}

// Label returns the label of example i. Its More shares memory with b.
func (b *Batch) Label(i int) Label { return b.labels[i] }

// Weight returns the weight of example i.
func (b *Batch) Weight(i int) float64 { return b.weights[i] }

// Slice returns the rows [from, to) of b, which share its memory.
func (b *Batch) Slice(from, to int) *Batch {
	s := &Batch{
		dim:     b.dim,
		x:       b.x[from*b.dim : to*b.dim : to*b.dim],
		labels:  b.labels[from:to:to],
		weights: b.weights[from:to:to],
		keys:    b.keys[from:to:to],
		types:   b.types,
		times:   b.times[min(from, len(b.times)):min(to, len(b.times)):min(to, len(b.times))],
		classes: b.classes,
		windows: b.windows,
	}
	if b.windows != nil {
		s.fresh = b.fresh[from:to:to]
	}
	if b.kept != nil {
		s.kept = b.kept[min(from, len(b.kept)):min(to, len(b.kept)):min(to, len(b.kept))]
	}
	if b.sparse != nil {
		part := b.sparse.Slice(min(from, b.sparse.Len()), min(to, b.sparse.Len()))
		s.sparse = &part
	}
	return s
}

// SetKept gives example i what Keep returned for its earlier prediction. Call it between Predict
// and Learn, or before Predict.
func (b *Batch) SetKept(i int, values []float64) {
	if i < 0 || i >= len(b.labels) {
		panic(fmt.Sprintf("learner: SetKept of example %d, the batch has %d", i, len(b.labels)))
	}
	for len(b.kept) < len(b.labels) {
		b.kept = append(b.kept, nil)
	}
	b.kept[i] = values
}

func (b *Batch) keptOf(i int) []float64 {
	if i >= len(b.kept) {
		return nil
	}
	return b.kept[i]
}
