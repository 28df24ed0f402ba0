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

// trackers correct the mixture where a stream changes faster than the window of the
// members: linear models of the mixture's error, on the first features of the first
// block, that forget their rows quickly. Each mini-batch is a step of Newton's method
// over all rows that are not forgotten, each with the parabola that its loss had when
// it arrived. On a stationary stream the mixture alone predicts better, and the
// trackers have no share.
type trackers struct {
	all         []tracker
	mixtureLoss []float64 // of the mixture without them for each target, decayed
	mix         []float64 // trackers × targets: their shares; the mixture alone has the rest

	phi, scaled   []float32
	z             []float64 // rows × n: features of norm 1, and 1
	mixtureScores []float64 // rows × scores: of the mixture alone
	corrections   []float64 // trackers × rows × scores: what they add to it
	curvatures    []float64 // second derivative of the loss at each row
	f, g          []float64
	gram, moment  []float64
	factor        []float64
	losses        []float64
	scratch       vec.Scratch
}

// tracker is the solution with one rate of forgetting.
type tracker struct {
	forget float64 // factor of the weight of the rows so far, for each row
	leastsquares.Equations
	w    []float64 // scores × n
	loss []float64 // of the mixture with its correction for each target, decayed
}

const (
	// trackerFeatures is the number of random features of a tracker. The time to solve for its
	// coefficients grows with the cube of this number. Chosen by trial.
	trackerFeatures = 32

	// trackerDecay is the factor of the losses so far for each row: whether trackers
	// are worth it changes faster than which member is best. Chosen by trial.
	trackerDecay = 0.9994

	// trackerPenalty is a multiple of the warm-up's penalty: what the mixture has not
	// learned is mostly noise. Chosen by trial.
	trackerPenalty = 10
)

// trackerForgetting is the factor for each row of each tracker: about 100 and about
// 33 rows count. Chosen by trial.
var trackerForgetting = []float64{0.99, 0.97}

func newTrackers(forgetting []float64, blockSize, scores, targets int) trackers {
	t := trackers{mixtureLoss: make([]float64, targets), mix: make([]float64, len(forgetting)*targets)}
	for _, f := range forgetting {
		n := 2*min(blockSize, trackerFeatures) + 1
		t.all = append(t.all, tracker{forget: f, Equations: leastsquares.New(n, scores), w: make([]float64, scores*n), loss: make([]float64, targets)})
	}
	return t
}

// added returns what the trackers add to coefficient i of the mixture for a score, for features of
// norm 1. The last coefficient is the intercept.
func (t *trackers) added(score, i int) float64 {
	sum := 0.0
	for m := range t.all {
		a := &t.all[m]
		sum += float64(t.shareOf(m, score) * a.w[score*a.N+i])
	}
	return sum
}

// shareOf returns the share of tracker m in a score.
func (t *trackers) shareOf(m, score int) float64 {
	n := len(t.mixtureLoss)
	return t.mix[m*n+score*n/t.all[m].Targets]
}

// intercept returns the index of the intercept among the coefficients of a score; 0 without
// trackers.
func (t *trackers) intercept() int {
	if len(t.all) == 0 {
		return 0
	}
	return t.all[0].N - 1
}

// norm returns what the trackers' features are divided by to have norm 1.
func (t *trackers) norm() float64 { return math.Sqrt(float64(t.intercept() / 2)) }

// learnTrackers grades the trackers on the rows of p, updates them, and sets their
// shares.
func (w *newton) learnTrackers(p *engine.Minibatch) {
	t := &w.trackers
	if len(t.all) == 0 || w.bank.Blocks() == 0 || w.Head.Task == target.Classification && w.Head.Classes < 2 {
		return
	}
	w.splitScores(p)
	w.gradeTrackers(p)
	for m := range t.all {
		w.updateTracker(p, m)
	}
	t.share(w.Head.Task)
}

// splitScores computes the scores of the rows of p by the mixture alone, and the
// correction of each tracker.
func (w *newton) splitScores(p *engine.Minibatch) {
	t, k, columns, rows := &w.trackers, w.Head.Scores(), w.Columns(), len(p.Labels)
	n, size := t.all[0].N, 2*w.Options.BlockSize
	t.phi = state.Extend(t.phi[:0], rows*size)
	w.bank.Features(t.phi, 0, p.X)
	t.z, t.mixtureScores, t.corrections = state.Extend(t.z[:0], rows*n), state.Extend(t.mixtureScores[:0], rows*k), state.Extend(t.corrections[:0], len(t.all)*rows*k)
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
				t.corrections[(m*rows+i)*k+c] = r
				u -= float64(t.shareOf(m, c) * r)
			}
			t.mixtureScores[i*k+c] = u
		}
	}
}

// corrected returns the scores of row i with the correction of tracker m.
func (t *trackers) corrected(m, i, rows, k int) []float64 {
	t.f = state.Extend(t.f[:0], k)
	for c, v := range t.corrections[(m*rows+i)*k : (m*rows+i+1)*k] {
		t.f[c] = t.mixtureScores[i*k+c] + v
	}
	return t.f
}

// gradeTrackers adds the losses of the rows of p, and computes the curvatures of
// their parabolas.
func (w *newton) gradeTrackers(p *engine.Minibatch) {
	t, k, rows, h := &w.trackers, w.Head.Scores(), len(p.Labels), w.curvature()
	t.g, t.curvatures = state.Extend(t.g[:0], k), state.Extend(t.curvatures[:0], rows)
	for i, y := range p.Labels {
		alone := t.mixtureScores[i*k : (i+1)*k]
		add := func(sums, f []float64) {
			for j, sum := range sums {
				l := w.Head.LossOf(j).Value(w.Head.Part(f, j), w.target(y, j))
				sums[j] = float64(sum*trackerDecay) + float64(p.Weights[i]*min(l, maxGradedLoss))
			}
		}
		add(t.mixtureLoss, alone)
		for m := range t.all {
			add(t.all[m].loss, t.corrected(m, i, rows, k))
		}
		t.curvatures[i] = h
		if w.Head.Probabilities() {
			w.Head.Loss.Grad(t.g, alone, w.target(y, 0))
			t.curvatures[i] = target.CurvatureAt(t.g, h)
		}
	}
}

// updateTracker has tracker m learn the rows of p.
func (w *newton) updateTracker(p *engine.Minibatch, m int) {
	t, k, rows := &w.trackers, w.Head.Scores(), len(p.Labels)
	a := &t.all[m]
	n := a.N
	if m == 0 { // the products are the same for all
		t.scaled, t.gram = state.Extend(t.scaled[:0], rows*n), state.Extend(t.gram[:0], n*n)
		clear(t.gram)
		for i, weight := range p.Weights {
			s := math.Sqrt(weight * t.curvatures[i])
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
		f := t.corrected(m, i, rows, k)
		for j := range w.Head.Parts() {
			w.Head.LossOf(j).Grad(w.Head.Part(t.g, j), w.Head.Part(f, j), w.target(y, j))
		}
		for c, d := range t.g {
			r := t.corrections[(m*rows+i)*k+c]
			d = max(-target.MaxResidual, min(target.MaxResidual, d))
			vec.Axpy(p.Weights[i]*(float64(t.curvatures[i]*r)-d), t.z[i*n:(i+1)*n], t.moment[c*n:(c+1)*n])
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

// share computes the shares from the losses.
func (t *trackers) share(task target.Task) {
	n := len(t.mixtureLoss)
	for j, alone := range t.mixtureLoss {
		t.losses = append(t.losses[:0], alone)
		for m := range t.all {
			t.losses = append(t.losses, t.all[m].loss[j])
		}
		mixture.Shares(t.losses, mixture.Temperature(task, slices.Min(t.losses), trackerDecay))
		for m := range t.all {
			t.mix[m*n+j] = t.losses[1+m]
		}
	}
}

func (t *trackers) save(a *state.Arrays) {
	state.Put(a, "trackers.alone", len(t.mixtureLoss), t.mixtureLoss)
	for m := range t.all {
		name := fmt.Sprintf("trackers.%d", m)
		t.all[m].Equations.Save(a, name)
		state.Put(a, name+".w", t.all[m].N, t.all[m].w)
		state.Put(a, name+".loss", len(t.mixtureLoss), t.all[m].loss)
	}
}

func (t *trackers) load(s *state.Reader) {
	n := len(t.mixtureLoss)
	t.mixtureLoss = state.Take[float64](s, "trackers.alone", 1, n)
	for _, l := range t.mixtureLoss {
		s.Require(l >= 0, "the mean loss without trackers is %v", l)
	}
	for m := range t.all {
		a, name := &t.all[m], fmt.Sprintf("trackers.%d", m)
		a.Equations.Load(s, name)
		a.w = state.Take[float64](s, name+".w", a.Targets, a.N)
		a.loss = state.Take[float64](s, name+".loss", 1, n)
		for _, l := range a.loss {
			s.Require(l >= 0, "the loss of tracker %d is %v", m, l)
		}
		for _, v := range a.w {
			s.Require(math.Abs(v) < engine.MaxCoefficient/10, "a coefficient of tracker %d is %v", m, v)
		}
	}
}
