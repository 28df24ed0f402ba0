package learner

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
)

// newton takes block-Newton steps on a window of the last rows, whose sums it
// keeps, so that a step costs the same however many features there are. A step
// is in a new block, or, once there are as many as there may be, in the next of
// the old ones.
//
// Its members share the features, the window and the blocks' Gram matrices.
// They differ in the penalty and in how many of the last rows they learn from.
// The averages of those that learn from the whole window know more rows than it
// has: each window's solution is one of a divide-and-conquer regression (Zhang,
// Duchi and Wainwright 2015). What is served is the mixture of all of them,
// weighted by the exponentials of their recent losses, target by target.
type newton struct {
	problem
	members []member

	features  *features.Bank
	w         []float64 // features × members × outputs
	intercept []float64 // members × outputs
	mean      []float64 // averages of w over the mini-batches, features × averages × outputs
	level     []float64 // and of intercept
	batches   int64     // that they are over
	wide      []float32 // features × columns: the mixture, the members, the averages
	levels    []float64 // intercepts of wide
	loss      []float64 // of each member and average for each target, decayed
	window    window
	grams     []gram // of each block
	trackers  trackers
	next      int   // block, once there are all
	credit    int64 // rows that steps may still go over

	scratch newtonScratch
}

// member is one of the models that are mixed.
type member struct {
	lambda float64 // multiple of the fit's
	rows   int     // the last ones, that it learns from
}

// window is a ring of the last rows learned.
type window struct {
	rows    int // in use
	at      int // the oldest, to be overwritten next, once all are in use
	x       []float32
	targets []float64 // rows × targets
	weights []float64
	f       []float64 // rows × members × outputs: their sums under the model as it is
}

type newtonScratch struct {
	g, slope, sums []float64
	step           []float32
	phi            []float32
	gram           []float64
	v, mix, row    []float64
	losses         []float64
	total          []float64 // weight of the rows of each member
	size           []float64 // of each member and output: how far the step goes
	vec            vec.Scratch
}

const (
	windowRows = 8192
	gramRows   = 2048 // that a Gram matrix is of at least, if there are as many
	gramVisits = 8    // after so many steps in a block its Gram matrix is made anew
	// work is how many rows of the window the steps go over for each row learned.
	work = 256
	// hurry bounds the steps in a mini-batch, which are more while the window is
	// small.
	hurry = 32
	// stretch is the factor of a Gram matrix, which may be of other rows than the
	// gradient is.
	stretch = 1.05
)

// factorBytes is the memory of a random feature's part of the factors of its
// block, which come from the Gram matrices and are in no State: members × (2 ×
// block size)² numbers a block.
const factorBytes = 4 * 4 * 64 * 8

// ensemble is the members of every model.
var ensemble = []member{{0.3, windowRows}, {0.03, windowRows}, {0.003, windowRows}, {0.3, 1024}}

// averages is how many of the first members have an average.
const averages = 3

func newNewton(p problem) *newton {
	w := &newton{problem: p, features: p.bank()}
	w.members = ensemble
	for range w.members {
		w.intercept = append(w.intercept, p.prior...)
	}
	w.level = slices.Clone(w.intercept[:averages*len(p.prior)])
	w.loss = make([]float64, (len(w.members)+averages)*p.head.targets())
	w.trackers = newTrackers(p.config.Width, len(p.prior), p.head.targets())
	w.serve()
	return w
}

func (w *newton) columns() int     { return (1 + len(w.members) + averages) * w.head.sums() }
func (w *newton) served() int      { return 0 }
func (w *newton) frequencies() int { return w.features.Blocks() * w.config.Width }

func (w *newton) sums(dst []float64, x []float32, n int) []float64 {
	return addUp(dst, w.features, x, w.wide, w.levels, n)
}

func (w *newton) serving() served {
	k := w.head.sums()
	coef := make([]float32, 0, len(w.wide)/w.columns()*k)
	for i := 0; i < len(w.wide); i += w.columns() {
		coef = append(coef, w.wide[i:i+k]...)
	}
	return served{w.features.Blocks(), w.levels[:k], coef}
}

func (w *newton) learn(p *pending) {
	w.grade(p)
	w.track(p)
	w.push(p)
	if w.head.task == Regression || w.head.classes > 1 {
		w.credit += int64(len(p.labels)) * work
		for range hurry {
			if w.window.rows < 64 || w.credit < int64(w.window.rows) {
				break
			}
			w.credit -= int64(w.window.rows)
			w.step()
		}
		w.credit = min(w.credit, windowRows)
	}
	w.guard(nil)
	w.average()
	w.serve()
}

// grade adds the losses of the pending rows to the members'.
func (w *newton) grade(p *pending) {
	k, columns := w.head.sums(), w.columns()
	if w.head.task == Classification && w.head.classes < 2 {
		return
	}
	n := w.head.targets()
	for i, y := range p.labels {
		for j := range n {
			t := w.target(y, j)
			for m := range w.candidates() {
				f := w.head.part(p.f[i*columns+(1+m)*k:i*columns+(2+m)*k], j)
				l := min(w.head.loss.Value(f, t), 50)
				sum := &w.loss[m*n+j]
				*sum = float64(*sum*memory) + float64(p.weights[i]*l)
			}
		}
	}
}

// target is what the loss of the pending rows compares with.
func (w *newton) target(y Label, j int) float64 {
	t := w.head.target(y, j)
	if w.head.task == Regression {
		t = max(-ResidualLimit, min(ResidualLimit, t))
	}
	return t
}

// push puts the pending rows into the window.
func (w *newton) push(p *pending) {
	v, dim, columns, k, n := &w.window, w.dim, w.columns(), w.head.sums(), w.head.targets()
	own := len(w.members) * k
	for i, y := range p.labels {
		at := v.at
		if v.rows < windowRows {
			at = v.rows
			v.rows++
			v.x = extend(v.x, dim)
			v.targets = extend(v.targets, n)
			v.weights = append(v.weights, 0)
			v.f = extend(v.f, own)
		} else {
			v.at = (v.at + 1) % windowRows
		}
		copy(v.x[at*dim:], p.x[i*dim:(i+1)*dim])
		for j := range n {
			v.targets[at*n+j] = w.head.target(y, j)
		}
		v.weights[at] = p.weights[i]
		copy(v.f[at*own:(at+1)*own], p.f[i*columns+k:])
	}
}

// age returns how many rows of the window are younger than the one in place i.
func (v *window) age(i int) int { return (v.at - 1 - i + 2*v.rows) % v.rows }

func (w *newton) widen(h head, prior []float64, total float64) {
	from, e := w.head.sums(), len(w.members)
	w.head = h
	k := h.sums()
	w.trackers = newTrackers(w.config.Width, k, 1)
	intercept := make([]float64, 0, e*k)
	for m := range w.members {
		if from == k { // from one class to two
			intercept = append(intercept, prior...)
		} else {
			intercept = append(intercept, h.widenIntercept(w.intercept[m*from:(m+1)*from], total)...)
		}
	}
	w.intercept = intercept
	w.level = slices.Clone(intercept[:averages*k])
	if from == k {
		for i := range w.window.f {
			w.window.f[i] = intercept[i%(e*k)]
		}
	} else {
		w.w, w.mean = h.widen(w.w, from), h.widen(w.mean, from)
		w.window.f = h.widen(w.window.f, from)
		for i := k - 1; i < len(w.window.f); i += k {
			w.window.f[i] = intercept[i%(e*k)]
		}
	}
	for i := range w.grams {
		w.grams[i].factors = nil // the curvature is another
	}
	w.serve()
}

var newtonRow = algorithm{
	name: "newton", help: "block-Newton steps on a window of the last rows, for a mixture of penalties",
	new:       func(p problem) engine { return newNewton(p) },
	minibatch: 32, width: 64, featureBytes: factorBytes,
}
