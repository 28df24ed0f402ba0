package warmup

import (
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Checkpoints are the numbers of rows that the fits of the warm-up use. The fit of
// checkpoint r starts after row r and takes effect after row EffectiveAt(r), however
// long it takes. They grow by about 1.6: fits are more expensive than steps. Chosen by
// trial, see docs/constants.md.
var Checkpoints = [...]int{64, 100, 160, 256, 400, 640, 1000}

// LastCheckpoint is the one whose fit is final.
const LastCheckpoint = 1000

// quickCheckpoints are those of a quick warm-up. Chosen by trial.
var quickCheckpoints = []int{64, 256, LastCheckpoint}

// fewCheckpoints are the checkpoints from the version Third on. 256 is the first one that chooses
// column weights, and 400 corrects these soon: without it, weights that 256 rows have missed are
// missed until row 1,250. Chosen by trial.
var fewCheckpoints = []int{64, 256, 400, LastCheckpoint}

// CheckpointsOf returns those at which a warm-up has fits.
func CheckpointsOf(v Version, quick bool) []int {
	switch {
	case quick:
		return quickCheckpoints
	case v >= Third:
		return fewCheckpoints
	}
	return Checkpoints[:]
}

// EffectiveAt returns the row after which the fit of a checkpoint takes effect: there
// is time for it while a quarter more rows arrive.
func EffectiveAt(checkpoint int) int { return checkpoint + checkpoint/4 }

// TakesEffect reports whether the fit of a checkpoint takes effect after row n.
func TakesEffect(n int64) bool {
	for _, r := range Checkpoints {
		if int64(EffectiveAt(r)) == n {
			return true
		}
	}
	return false
}

// LatestEffect returns the row after which the latest fit that is in effect after n rows took
// effect, among the fits of checkpoints. It returns 0 if there is none.
func LatestEffect(n int64, checkpoints []int) int {
	at := 0
	for _, r := range checkpoints {
		if int64(EffectiveAt(r)) <= n {
			at = EffectiveAt(r)
		}
	}
	return at
}

// Buffer keeps the first labelled rows of a stream until the last fit is in effect. It
// only appends, so that a fit can read its rows at the same time.
type Buffer struct {
	X       []float64 // raw
	Labels  []target.Label
	Weights []float64
	Columns []encode.Type // of X; nil if all are numeric
	Result  chan Fit      // of the fit in progress; nil if there is none
}

// Add appends a row.
func (w *Buffer) Add(x []float64, y target.Label, weight float64) {
	w.X = append(w.X, x...)
	w.Labels = append(w.Labels, y)
	w.Weights = append(w.Weights, weight)
}

// A Fitter fits to rows of dim raw values and their labels, as NewFit does.
type Fitter func(x []float64, labels []target.Label, dim int, a Request) Fit

// Start starts the fit of a checkpoint whose rows are in w, of dim raw values. Its
// goroutine ends with it.
func (w *Buffer) Start(checkpoint, dim int, a Request, by Fitter) {
	x, labels, result := w.X[:checkpoint*dim], w.Labels[:checkpoint], make(chan Fit, 1)
	a.Columns, a.Weights = w.Columns, w.Weights[:checkpoint]
	w.Result = result
	go func() { result <- by(x, labels, dim, a) }()
}

// Fits reports whether there is a fit at a checkpoint whose rows are in w: rows of a
// single class give nothing to fit to, but the last fit decides the scale.
func (w *Buffer) Fits(checkpoint int, task target.Task) bool {
	if checkpoint == LastCheckpoint || task == target.Regression || task == target.Novelty {
		return true
	}
	for _, y := range w.Labels[:checkpoint] {
		if y.Class != w.Labels[0].Class {
			return true
		}
	}
	return false
}
