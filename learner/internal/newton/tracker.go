package newton

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// trackers correct the mixture of newton's members where a stream moves faster
// than their window: linear models of what the mixture is off by, on the first
// features of the first block, that soon forget their rows. Each mini-batch is a step of
// Newton's method over all rows that are not forgotten, each with the parabola
// that its loss had when it came. Where nothing moves, the mixture alone predicts
// better, and they have no share.
type trackers struct {
	all   []tracker
	alone []float64 // loss of the mixture without them for each target, decayed
	mix   []float64 // trackers × targets: their shares; the mixture alone has the rest

	phi, scaled  []float32
	z            []float64 // rows × n: features of norm 1, and 1
	alike        []float64 // rows × outputs: what the mixture alone says
	off          []float64 // trackers × rows × outputs: what they add to it
	bend         []float64 // second derivative of the loss at each row
	f, g         []float64
	gram, moment []float64
	factor       []float64
	losses       []float64
	scratch      vec.Scratch
}

// tracker is the solution with one rate of forgetting.
type tracker struct {
	forget float64 // factor of the rows so far for each row
	leastsquares.Equations
	w    []float64 // outputs × n
	loss []float64 // of the mixture with it for each target, decayed
}

const (
	trackerMost    = 32 // frequencies
	trackerMemory  = 0.9994
	trackerPenalty = 10 // multiple of the fit's: what is left to be learned is mostly noise
)

var trackerForgetting = []float64{0.99, 0.97}

func newTrackers(width, outputs, targets int) trackers {
	t := trackers{alone: make([]float64, targets), mix: make([]float64, len(trackerForgetting)*targets)}
	for _, f := range trackerForgetting {
		n := 2*min(width, trackerMost) + 1
		t.all = append(t.all, tracker{forget: f, Equations: leastsquares.New(n, outputs), w: make([]float64, outputs*n), loss: make([]float64, targets)})
	}
	return t
}

// added returns what the trackers add to an output's coefficient i of the mixture,
// of which the last is the intercept, where features have norm 1.
func (t *trackers) added(output, i int) float64 {
	sum := 0.0
	for m := range t.all {
		a := &t.all[m]
		sum += float64(t.shareOf(m, output) * a.w[output*a.N+i])
	}
	return sum
}

// shareOf is the share of tracker m in an output.
func (t *trackers) shareOf(m, output int) float64 {
	n := len(t.alone)
	return t.mix[m*n+output*n/t.all[m].Outputs]
}

// intercept is the place of the intercept among the coefficients of an output.
func (t *trackers) intercept() int { return t.all[0].N - 1 }

// norm is what the trackers' features are divided by to have norm 1.
func (t *trackers) norm() float64 { return math.Sqrt(float64(t.intercept() / 2)) }

// track grades the trackers on the pending rows, sets their shares and teaches
// them.
func (w *newton) track(p *engine.Minibatch) {
	t := &w.trackers
	if w.bank.Blocks() == 0 || w.Head.Task == target.Classification && w.Head.Classes < 2 {
		return
	}
	w.separate(p)
	w.gradeTrackers(p)
	for m := range t.all {
		w.teach(p, m)
	}
	t.share(w.Head.Task)
}

// separate finds what the mixture alone says of the pending rows, and what each
// tracker adds to it.
func (w *newton) separate(p *engine.Minibatch) {
	t, k, columns, rows := &w.trackers, w.Head.Scores(), w.Columns(), len(p.Labels)
	n, size := t.all[0].N, 2*w.Options.BlockSize
	t.phi = state.Extend(t.phi[:0], rows*size)
	w.bank.Features(t.phi, 0, p.X)
	t.z, t.alike, t.off = state.Extend(t.z[:0], rows*n), state.Extend(t.alike[:0], rows*k), state.Extend(t.off[:0], len(t.all)*rows*k)
	norm := 1 / t.norm()
	for i := range rows {
		z := t.z[i*n : (i+1)*n]
		for j, v := range t.phi[i*size : i*size+n-1] {
			z[j] = float64(v) * norm
		}
		z[n-1] = 1
		for c := range k {
			u := p.Scores[i*columns+c]
			for m := range t.all {
				r := vec.Dot(z, t.all[m].w[c*n:(c+1)*n])
				t.off[(m*rows+i)*k+c] = r
				u -= float64(t.shareOf(m, c) * r)
			}
			t.alike[i*k+c] = u
		}
	}
}

// with returns the sums of the pending row i with what tracker m adds.
func (t *trackers) with(m, i, rows, k int) []float64 {
	t.f = state.Extend(t.f[:0], k)
	for c, v := range t.off[(m*rows+i)*k : (m*rows+i+1)*k] {
		t.f[c] = t.alike[i*k+c] + v
	}
	return t.f
}

// gradeTrackers adds the losses of the pending rows, and bends their parabolas.
func (w *newton) gradeTrackers(p *engine.Minibatch) {
	t, k, rows, h := &w.trackers, w.Head.Scores(), len(p.Labels), w.curvature()
	t.g, t.bend = state.Extend(t.g[:0], k), state.Extend(t.bend[:0], rows)
	for i, y := range p.Labels {
		alone := t.alike[i*k : (i+1)*k]
		add := func(sums, f []float64) {
			for j, sum := range sums {
				l := w.Head.Loss.Value(w.Head.Part(f, j), w.target(y, j))
				sums[j] = float64(sum*trackerMemory) + float64(p.Weights[i]*min(l, 50))
			}
		}
		add(t.alone, alone)
		for m := range t.all {
			add(t.all[m].loss, t.with(m, i, rows, k))
		}
		t.bend[i] = h
		if w.Head.Probabilities() {
			w.Head.Loss.Grad(t.g, alone, w.target(y, 0))
			t.bend[i] = target.CurvatureAt(t.g, h)
		}
	}
}

// teach gives tracker m the pending rows.
func (w *newton) teach(p *engine.Minibatch, m int) {
	t, k, rows := &w.trackers, w.Head.Scores(), len(p.Labels)
	a := &t.all[m]
	n := a.N
	if m == 0 { // the products are the same for all
		t.scaled, t.gram = state.Extend(t.scaled[:0], rows*n), state.Extend(t.gram[:0], n*n)
		clear(t.gram)
		for i, weight := range p.Weights {
			s := math.Sqrt(weight * t.bend[i])
			for j, v := range t.z[i*n : (i+1)*n] {
				t.scaled[i*n+j] = float32(v * s)
			}
		}
		vec.Gram(t.gram, t.scaled, n, &t.scratch)
	}
	t.moment = state.Extend(t.moment[:0], k*n)
	clear(t.moment)
	total := 0.0
	for i, y := range p.Labels {
		f := t.with(m, i, rows, k)
		for j := range w.Head.Targets() {
			w.Head.Loss.Grad(w.Head.Part(t.g, j), w.Head.Part(f, j), w.target(y, j))
		}
		for c, d := range t.g {
			r := t.off[(m*rows+i)*k+c]
			d = max(-target.MaxResidual, min(target.MaxResidual, d))
			vec.Axpy(p.Weights[i]*(float64(t.bend[i]*r)-d), t.z[i*n:(i+1)*n], t.moment[c*n:(c+1)*n])
		}
		total += p.Weights[i]
	}
	a.Equations.Forget(leastsquares.Power(a.forget, rows))
	a.Add(t.gram, t.moment, total)
	t.factor = state.Extend(t.factor[:0], n*n)
	if a.Factorise(t.factor, trackerPenalty*warmup.LastCheckpoint*w.Fit.Lambda) {
		a.Solve(a.w, t.factor)
	}
	for _, v := range a.w {
		if !(math.Abs(v) < engine.MaxCoefficient/10) {
			*a = tracker{forget: a.forget, Equations: leastsquares.New(n, k), w: make([]float64, k*n), loss: a.loss}
			break
		}
	}
}

// share sets the shares by the losses.
func (t *trackers) share(task target.Task) {
	n := len(t.alone)
	for j, alone := range t.alone {
		t.losses = append(t.losses[:0], alone)
		for m := range t.all {
			t.losses = append(t.losses, t.all[m].loss[j])
		}
		mixture.Shares(t.losses, mixture.Temperature(task, slices.Min(t.losses), trackerMemory))
		for m := range t.all {
			t.mix[m*n+j] = t.losses[1+m]
		}
	}
}

func (t *trackers) save(a *state.Arrays) {
	state.Put(a, "trackers.alone", len(t.alone), t.alone)
	for m := range t.all {
		name := fmt.Sprintf("trackers.%d", m)
		t.all[m].Equations.Save(a, name)
		state.Put(a, name+".w", t.all[m].N, t.all[m].w)
		state.Put(a, name+".loss", len(t.alone), t.all[m].loss)
	}
}

func (t *trackers) load(s *state.Reader) {
	n := len(t.alone)
	t.alone = state.Take[float64](s, "trackers.alone", 1, n)
	for _, l := range t.alone {
		s.Require(l >= 0, "the loss without trackers is %v", l)
	}
	for m := range t.all {
		a, name := &t.all[m], fmt.Sprintf("trackers.%d", m)
		a.Equations.Load(s, name)
		a.w = state.Take[float64](s, name+".w", a.Outputs, a.N)
		a.loss = state.Take[float64](s, name+".loss", 1, n)
		for _, l := range a.loss {
			s.Require(l >= 0, "the loss of tracker %d is %v", m, l)
		}
		for _, v := range a.w {
			s.Require(math.Abs(v) < engine.MaxCoefficient/10, "a coefficient of tracker %d is %v", m, v)
		}
	}
}
