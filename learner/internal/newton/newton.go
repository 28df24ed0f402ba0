package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
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
	engine.Problem
	members []member

	bank      *features.Bank
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
	WindowRows = 8192
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
var ensemble = []member{{0.3, WindowRows}, {0.03, WindowRows}, {0.003, WindowRows}, {0.3, 1024}}

// averages is how many of the first members have an average.
const averages = 3

func newEngine(p engine.Problem) *newton {
	w := &newton{Problem: p, bank: p.Bank()}
	w.members = ensemble
	for range w.members {
		w.intercept = append(w.intercept, p.Prior...)
	}
	w.level = slices.Clone(w.intercept[:averages*len(p.Prior)])
	w.loss = make([]float64, (len(w.members)+averages)*p.Head.Targets())
	w.trackers = newTrackers(p.Options.BlockSize, len(p.Prior), p.Head.Targets())
	w.serve()
	return w
}

func (w *newton) Columns() int  { return (1 + len(w.members) + averages) * w.Head.Scores() }
func (w *newton) Served() int   { return 0 }
func (w *newton) Features() int { return w.bank.Blocks() * w.Options.BlockSize }

func (w *newton) Score(dst []float64, x []float32, n int) []float64 {
	return engine.Scores(dst, w.bank, x, w.wide, w.levels, n)
}

func (w *newton) Serving() engine.Served {
	k := w.Head.Scores()
	coef := make([]float32, 0, len(w.wide)/w.Columns()*k)
	for i := 0; i < len(w.wide); i += w.Columns() {
		coef = append(coef, w.wide[i:i+k]...)
	}
	return engine.Served{Blocks: w.bank.Blocks(), Intercept: w.levels[:k], Coef: coef}
}

func (w *newton) Learn(p *engine.Minibatch) {
	w.grade(p)
	w.track(p)
	w.push(p)
	if w.Head.Task == target.Regression || w.Head.Classes > 1 {
		w.credit += int64(len(p.Labels)) * work
		for range hurry {
			if w.window.rows < 64 || w.credit < int64(w.window.rows) {
				break
			}
			w.credit -= int64(w.window.rows)
			w.step()
		}
		w.credit = min(w.credit, WindowRows)
	}
	w.guard(nil)
	w.average()
	w.serve()
}

// grade adds the losses of the pending rows to the members'.
func (w *newton) grade(p *engine.Minibatch) {
	k, columns := w.Head.Scores(), w.Columns()
	if w.Head.Task == target.Classification && w.Head.Classes < 2 {
		return
	}
	n := w.Head.Targets()
	for i, y := range p.Labels {
		for j := range n {
			t := w.target(y, j)
			for m := range w.candidates() {
				f := w.Head.Part(p.Scores[i*columns+(1+m)*k:i*columns+(2+m)*k], j)
				l := min(w.Head.Loss.Value(f, t), 50)
				sum := &w.loss[m*n+j]
				*sum = float64(*sum*memory) + float64(p.Weights[i]*l)
			}
		}
	}
}

// target is what the loss of the pending rows compares with.
func (w *newton) target(y target.Label, j int) float64 {
	t := w.Head.Target(y, j)
	if w.Head.Task == target.Regression {
		t = max(-target.MaxResidual, min(target.MaxResidual, t))
	}
	return t
}

// push puts the pending rows into the window.
func (w *newton) push(p *engine.Minibatch) {
	v, dim, columns, k, n := &w.window, w.Dim, w.Columns(), w.Head.Scores(), w.Head.Targets()
	own := len(w.members) * k
	for i, y := range p.Labels {
		at := v.at
		if v.rows < WindowRows {
			at = v.rows
			v.rows++
			v.x = state.Extend(v.x, dim)
			v.targets = state.Extend(v.targets, n)
			v.weights = append(v.weights, 0)
			v.f = state.Extend(v.f, own)
		} else {
			v.at = (v.at + 1) % WindowRows
		}
		copy(v.x[at*dim:], p.X[i*dim:(i+1)*dim])
		for j := range n {
			v.targets[at*n+j] = w.Head.Target(y, j)
		}
		v.weights[at] = p.Weights[i]
		copy(v.f[at*own:(at+1)*own], p.Scores[i*columns+k:])
	}
}

// age returns how many rows of the window are younger than the one in place i.
func (v *window) age(i int) int { return (v.at - 1 - i + 2*v.rows) % v.rows }

func (w *newton) Widen(h target.Head, prior []float64, total float64) {
	from, e := w.Head.Scores(), len(w.members)
	w.Head = h
	k := h.Scores()
	w.trackers = newTrackers(w.Options.BlockSize, k, 1)
	intercept := make([]float64, 0, e*k)
	for m := range w.members {
		if from == k { // from one class to two
			intercept = append(intercept, prior...)
		} else {
			intercept = append(intercept, h.WidenIntercept(w.intercept[m*from:(m+1)*from], total)...)
		}
	}
	w.intercept = intercept
	w.level = slices.Clone(intercept[:averages*k])
	if from == k {
		for i := range w.window.f {
			w.window.f[i] = intercept[i%(e*k)]
		}
	} else {
		w.w, w.mean = h.Widen(w.w, from), h.Widen(w.mean, from)
		w.window.f = h.Widen(w.window.f, from)
		for i := k - 1; i < len(w.window.f); i += k {
			w.window.f[i] = intercept[i%(e*k)]
		}
	}
	for i := range w.grams {
		w.grams[i].factors = nil // the curvature is another
	}
	w.serve()
}

var Algorithm = engine.Algorithm{
	Name: "newton", Help: "block-Newton steps on a window of the last rows, for a mixture of penalties",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 32, BlockSize: 64, FeatureBytes: factorBytes,
}
