package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/windows"
)

// Windows says which columns of a row are statistics of the earlier rows of its key, over
// event time, and which columns they are of. It never changes. See Learner.Observe.
type Windows = windows.Layout

// WindowGroup is the statistics of one key.
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

// ErrWindows refuses what would have to read rows again, without the rows before them that
// their windows are of.
var ErrWindows = errors.New("a model with windows needs all records before a row: the last rows cannot be read again alone")

// Bounds of a WindowGroup.
const (
	MaxWindowHalfLives = windows.MaxHalfLives
	MaxWindowKeys      = windows.MaxKeys
)

// ParseWindowFeature reads the name of a WindowFeature.
func ParseWindowFeature(name string) (WindowFeature, error) { return windows.ParseFeature(name) }

// WindowCounts says what became of the rows with windows.
type WindowCounts = windows.Counts

// WindowStatus is what the windows of a model hold, and what became of the rows since the
// program started.
type WindowStatus struct {
	Counts   WindowCounts
	Keys     int
	Bytes    int64 // of memory
	MaxBytes int64 // with as many keys as allowed
}

// SetWindows says that Observe has to set the statistics of the last example. The Batch
// keeps w, which is that of all of them.
func (b *Batch) SetWindows(w *Windows) {
	if w == nil {
		return
	}
	if b.windows == nil {
		b.windows, b.fresh = w, append(b.fresh[:0], make([]bool, b.Len())...)
	}
	b.fresh[len(b.fresh)-1] = true
}

// requireObserved panics if Observe has not seen all rows that it has to.
func (b *Batch) requireObserved() {
	for _, f := range b.fresh {
		if f {
			panic("learner: a batch of rows with windows needs Observe before Predict")
		}
	}
}

// Observe sets the statistics of the rows of b with windows, each from the rows before it,
// and adds the rows, in their order. It comes once for every Batch, before the first Predict
// of its rows: a row that was observed is not observed again. It panics if the windows are
// not those of the rows before.
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
			unifyNaN(b.X(i))
			b.fresh[i] = false
		}
	}
}

// Observe does what that of a Learner does, to the windows that m has of its own: they go on
// from those of the Learner. Without it, Predict sets the statistics as of then.
func (m *Model) Observe(b *Batch) {
	if m.windows != nil && b.windows != nil {
		observe(m.windows, b)
	}
}

// look sets the statistics of the rows that were not observed, and adds none.
func (m *Model) look(b *Batch) {
	if m.windows == nil || b.windows == nil {
		return
	}
	for i, fresh := range b.fresh {
		if fresh {
			m.windows.Look(b.X(i))
			unifyNaN(b.X(i))
		}
	}
}

// Windows returns what the windows hold, nil if there are none.
func (l *Learner) Windows() *WindowStatus { return windowStatus(l.windows) }

// Windows does what that of a Learner does.
func (m *Model) Windows() *WindowStatus { return windowStatus(m.windows) }

func windowStatus(w *windows.Windows) *WindowStatus {
	if w == nil {
		return nil
	}
	s := WindowStatus{Counts: w.Counts(), Keys: w.Keys()}
	s.Bytes, s.MaxBytes = w.Bytes()
	return &s
}
