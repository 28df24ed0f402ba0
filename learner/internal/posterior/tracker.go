package posterior

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// Tracker learns a Factor from the rows of a stream. All rows count equally, whatever their age.
type Tracker struct {
	Factor
	penalty float64
	leastsquares.Equations
	solved float64 // rows when Factor was computed

	z       []float32 // scratch
	gram    []float64
	square  []float64
	scratch vec.Scratch
}

// NewTracker returns a Tracker for a model that has no rows yet. fixed is the number of random
// features of a model that has all of them from the start, otherwise 0.
func NewTracker(p engine.Problem, fixed int) *Tracker {
	size, blocks := plan(p.Options, fixed)
	t := &Tracker{Factor: *newFactor(p.Options, p.Fit, p.Dim, size, blocks), penalty: p.Fit.Lambda * warmup.LastCheckpoint}
	t.Equations = leastsquares.New(t.n(), 0)
	t.solve()
	return t
}

// Learn learns scaled rows with these weights.
func (t *Tracker) Learn(x []float32, weights []float64) {
	n, rows := t.n(), len(weights)
	t.phi = state.Extend(t.phi[:0], rows*(n-1))
	t.bank.Features(t.phi, 0, x)
	t.z = state.Extend(t.z[:0], rows*n)
	total, scale := 0.0, 1/math.Sqrt(float64(t.count()))
	for i, weight := range weights {
		row, w := t.z[i*n:(i+1)*n], math.Sqrt(weight)
		for j, v := range t.phi[i*(n-1) : (i+1)*(n-1)] {
			row[j] = float32(float64(v) * scale * w)
		}
		row[n-1] = float32(w)
		total += weight
	}
	t.gram = state.Extend(t.gram[:0], n*n)
	clear(t.gram)
	vec.Gram(t.gram, t.z, n, &t.scratch)
	t.Add(t.gram, nil, total)
	if t.Rows >= leastsquares.Growth*t.solved {
		t.solve()
	}
}

// Forget multiplies the weight of the rows so far by f.
func (t *Tracker) Forget(f float64) {
	t.Equations.Forget(f)
	t.solve()
}

// solve computes the Factor. If rounding has made the equations indefinite, it keeps the previous
// one.
func (t *Tracker) solve() {
	n := t.n()
	t.square = state.Extend(t.square[:0], n*n)
	if !t.Factorise(t.square, t.penalty) {
		return
	}
	lower := make([]float64, 0, n*(n+1)/2) // a copy, because the previous one may be in use by predictions
	for i := range n {
		lower = append(lower, t.square[i*n:i*n+i+1]...)
	}
	t.lower, t.solved = lower, t.Rows
}

// Save adds t, without its Factor, to the resuming part of a State.
func (t *Tracker) Save(a *state.Arrays) {
	t.Equations.Save(a, name)
	state.Put(a, name+".solved", 1, []float64{t.solved})
}

// Load reads what Save wrote for a Tracker with this Factor.
func (t *Tracker) Load(s *state.Reader, f *Factor) {
	t.Equations.Load(s, name)
	solved := state.Take[float64](s, name+".solved", 1, 1)
	if s.Err != nil {
		return
	}
	s.Require(f != nil && f.n() == t.n() && f.bank.Blocks() == t.bank.Blocks(), "%s: the random features are not those of the algorithm", name)
	s.Require(solved[0] >= 0 && solved[0] < math.MaxFloat64, "%s.solved is %v", name, solved)
	if s.Err == nil {
		t.solved, t.lower = solved[0], f.lower
	}
}
