package warmup

import (
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Checkpoints are the numbers of rows that the fits of the warm-up use. The fit of
// rung r starts when row r is in and takes effect at row effect(r), however
// long it took.
var Checkpoints = [...]int{64, 100, 160, 256, 400, 640, 1000}

// LastCheckpoint is the one that settles the scale for good.
const LastCheckpoint = 1000

func EffectiveAt(rung int) int { return rung + rung/4 }

// TakesEffect says whether n is the row at which some rung's fit does.
func TakesEffect(n int64) bool {
	for _, r := range Checkpoints {
		if int64(EffectiveAt(r)) == n {
			return true
		}
	}
	return false
}

// Buffer keeps the first labelled rows of a stream until the last fit is in
// effect. It appends only, so that a fit can read in peace.
type Buffer struct {
	X       []float64 // raw
	Labels  []target.Label
	Weights []float64
	Result  chan Fit // of the fit under way; nil if there is none
}

func (w *Buffer) Add(x []float64, y target.Label, weight float64) {
	w.X = append(w.X, x...)
	w.Labels = append(w.Labels, y)
	w.Weights = append(w.Weights, weight)
}

// A Fitter fits to rows of dim raw values and their labels, as newFit does.
type Fitter func(x []float64, labels []target.Label, dim int, a Request) Fit

// Start starts the fit of a rung whose rows are in. Its goroutine ends by itself.
func (w *Buffer) Start(rung, dim int, a Request, by Fitter) {
	x, labels, result := w.X[:rung*dim], w.Labels[:rung], make(chan Fit, 1)
	w.Result = result
	go func() { result <- by(x, labels, dim, a) }()
}

// Fits says whether a rung whose rows are in has a fit: where all rows have one
// class there is nothing to fit to, except that the scale must be settled at
// some time.
func (w *Buffer) Fits(rung int, task target.Task) bool {
	if rung == LastCheckpoint || task == target.Regression {
		return true
	}
	for _, y := range w.Labels[:rung] {
		if y.Class != w.Labels[0].Class {
			return true
		}
	}
	return false
}
