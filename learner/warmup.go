package learner

// rungs are the numbers of rows that the fits of the warm-up use. The fit of
// rung r starts when row r is in and takes effect at row effect(r), however
// long it took.
var rungs = [...]int{64, 100, 160, 256, 400, 640, 1000}

// lastRung is the one that settles the scale for good.
const lastRung = 1000

func effect(rung int) int { return rung + rung/4 }

// takesEffect says whether n is the row at which some rung's fit does.
func takesEffect(n int64) bool {
	for _, r := range rungs {
		if int64(effect(r)) == n {
			return true
		}
	}
	return false
}

// warmup keeps the first labelled rows of a stream until the last fit is in
// effect. It appends only, so that a fit can read in peace.
type warmup struct {
	x       []float64 // raw
	labels  []Label
	weights []float64
	result  chan fit // of the fit under way; nil if there is none
}

func (w *warmup) add(x []float64, y Label, weight float64) {
	w.x = append(w.x, x...)
	w.labels = append(w.labels, y)
	w.weights = append(w.weights, weight)
}

// A Fitter fits to rows of dim raw values and their labels, as newFit does.
type Fitter func(x []float64, labels []Label, dim int, a asked) fit

// start starts the fit of a rung whose rows are in. Its goroutine ends by itself.
func (w *warmup) start(rung, dim int, a asked, by Fitter) {
	x, labels, result := w.x[:rung*dim], w.labels[:rung], make(chan fit, 1)
	w.result = result
	go func() { result <- by(x, labels, dim, a) }()
}

// fits says whether a rung whose rows are in has a fit: where all rows have one
// class there is nothing to fit to, except that the scale must be settled at
// some time.
func (w *warmup) fits(rung int, task Task) bool {
	if rung == lastRung || task == Regression {
		return true
	}
	for _, y := range w.labels[:rung] {
		if y.Class != w.labels[0].Class {
			return true
		}
	}
	return false
}
