package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/windows"
)

// Windows describes which columns of a row are statistics of the earlier rows of its key, over
// event time, and from which columns they are computed. It never changes. See Learner.Observe. Its
// fields and methods are:
//
//	Groups []WindowGroup
//
//	func (*Windows) Check(dim int) error   // whether it is valid for rows of dim values
//	func (*Windows) Equal(o *Windows) bool // whether both are the same
type Windows = windows.Layout

// WindowGroup is the statistics of one key. It has no methods for its users, and the fields are:
//
//	Key, Time    int // columns of the key, and of the event time in seconds
//	Of, Distinct int // columns of the values, and of those that WindowDistinct counts; -1 without such features
//
//	HalfLives []float64       // seconds
//	Features  []WindowFeature // in ascending order
//	To        []int           // columns for the features: for one half-life after the other, those of all features except WindowSince, and then that of WindowSince
//	Lateness  float64         // seconds
//	MaxKeys   int             // 1 to MaxWindowKeys
type WindowGroup = windows.Group

// WindowFeature is one of the statistics.
type WindowFeature = windows.Feature

// The statistics of the earlier rows of a key, each with a weight that halves with every
// half-life.
const (
	WindowCount     = windows.Count
	WindowSum       = windows.Sum
	WindowMean      = windows.Mean
	WindowDeviation = windows.Deviation
	WindowDistinct  = windows.Distinct
	WindowSince     = windows.Since
)

// ErrWindows is the error of operations that would read rows again without the earlier rows that
// their windows are of.
var ErrWindows = errors.New("a model with windows needs all records before a row: the last rows cannot be read again alone")

// Bounds of a WindowGroup.
const (
	MaxWindowHalfLives = windows.MaxHalfLives
	MaxWindowKeys      = windows.MaxKeys
)

// ParseWindowFeature reads the name of a WindowFeature.
func ParseWindowFeature(name string) (WindowFeature, error) { return windows.ParseFeature(name) }

// WindowCounts says what became of the rows with windows. Its fields, all int64, are:
//
//	Rows    // added in time, or held
//	Late    // added with the weight of an earlier row
//	Stale   // too old, not added
//	Dropped // held, and contradicted by the next row of the key
//	NoKey   // without a key or a time
//	Evicted // keys that were evicted
type WindowCounts = windows.Counts

// WindowStatus is what the windows of a model hold, and what became of the rows since the
// program started.
type WindowStatus struct {
	Counts   WindowCounts
	Keys     int
	Bytes    int64 // of memory
	MaxBytes int64 // with as many keys as allowed
}

// SetWindows marks the last example as one whose statistics Observe has to set. The Batch keeps w,
// which must be the same for all its examples.
func (b *Batch) SetWindows(w *Windows) {
	if w == nil {
		return
	}
	last := b.last("SetWindows")
	if b.windows == nil {
		b.windows, b.fresh = w, append(b.fresh[:0], make([]bool, b.Len())...)
	}
	b.fresh[last] = true
}

// requireObserved panics if Observe has not seen all rows that it has to.
func (b *Batch) requireObserved() {
	for _, f := range b.fresh {
		if f {
			panic("learner: a batch of rows with windows needs Observe before Predict")
		}
	}
}

// Observe sets the statistics of the rows of b with windows, each from the rows before it, and adds
// these rows to the windows, in their order. Call it once for every Batch, before the first Predict
// of its rows; rows that have been observed are left out. It panics if the Windows differ from
// those of earlier rows.
func (l *Learner) Observe(b *Batch) {
	if b.windows == nil {
		return
	}
	if l.windows == nil {
		if err := b.windows.Check(b.dim); err != nil {
			panic("learner: " + err.Error())
		}
		l.windows = windows.New(b.windows)
	}
	observe(l.windows, b)
}

func observe(w *windows.Windows, b *Batch) {
	if w.Layout() != b.windows && !w.Layout().Equal(b.windows) {
		panic(fmt.Sprintf("learner: windows %+v, the model has %+v", *b.windows, *w.Layout()))
	}
	for i, fresh := range b.fresh {
		if fresh {
			w.Observe(b.X(i))
			bound(b.X(i))
			b.fresh[i] = false
		}
	}
}

// Observe does what Learner.Observe does, with the windows of m, which continue those of the
// Learner. Without it, Predict sets the statistics to what the windows hold at that time.
func (m *Model) Observe(b *Batch) {
	if m.windows != nil && b.windows != nil {
		observe(m.windows, b)
	}
}

// look sets the statistics of the rows that have not been observed, and does not add these rows to
// the windows.
func (m *Model) look(b *Batch) {
	if m.windows == nil || b.windows == nil {
		return
	}
	for i, fresh := range b.fresh {
		if fresh {
			m.windows.Look(b.X(i))
			bound(b.X(i))
		}
	}
}

// Windows returns what the windows hold, nil if there are none.
func (l *Learner) Windows() *WindowStatus { return windowStatus(l.windows) }

// Windows does what Learner.Windows does.
func (m *Model) Windows() *WindowStatus { return windowStatus(m.windows) }

func windowStatus(w *windows.Windows) *WindowStatus {
	if w == nil {
		return nil
	}
	s := WindowStatus{Counts: w.Counts(), Keys: w.Keys()}
	s.Bytes, s.MaxBytes = w.Bytes()
	return &s
}
