package learner

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
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
	equations
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
		t.all = append(t.all, tracker{forget: f, equations: newEquations(n, outputs), w: make([]float64, outputs*n), loss: make([]float64, targets)})
	}
	return t
}

// added returns what the trackers add to an output's coefficient i of the mixture,
// of which the last is the intercept, where features have norm 1.
func (t *trackers) added(output, i int) float64 {
	sum := 0.0
	for m := range t.all {
		a := &t.all[m]
		sum += float64(t.shareOf(m, output) * a.w[output*a.n+i])
	}
	return sum
}

// shareOf is the share of tracker m in an output.
func (t *trackers) shareOf(m, output int) float64 {
	n := len(t.alone)
	return t.mix[m*n+output*n/t.all[m].outputs]
}

// intercept is the place of the intercept among the coefficients of an output.
func (t *trackers) intercept() int { return t.all[0].n - 1 }

// norm is what the trackers' features are divided by to have norm 1.
func (t *trackers) norm() float64 { return math.Sqrt(float64(t.intercept() / 2)) }

// track grades the trackers on the pending rows, sets their shares and teaches
// them.
func (w *newton) track(p *pending) {
	t := &w.trackers
	if w.features.Blocks() == 0 || w.head.task == Classification && w.head.classes < 2 {
		return
	}
	w.separate(p)
	w.gradeTrackers(p)
	for m := range t.all {
		w.teach(p, m)
	}
	t.share(w.head.task)
}

// separate finds what the mixture alone says of the pending rows, and what each
// tracker adds to it.
func (w *newton) separate(p *pending) {
	t, k, columns, rows := &w.trackers, w.head.sums(), w.columns(), len(p.labels)
	n, size := t.all[0].n, 2*w.config.Width
	t.phi = extend(t.phi[:0], rows*size)
	w.features.Features(t.phi, 0, p.x)
	t.z, t.alike, t.off = extend(t.z[:0], rows*n), extend(t.alike[:0], rows*k), extend(t.off[:0], len(t.all)*rows*k)
	norm := 1 / t.norm()
	for i := range rows {
		z := t.z[i*n : (i+1)*n]
		for j, v := range t.phi[i*size : i*size+n-1] {
			z[j] = float64(v) * norm
		}
		z[n-1] = 1
		for c := range k {
			u := p.f[i*columns+c]
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
	t.f = extend(t.f[:0], k)
	for c, v := range t.off[(m*rows+i)*k : (m*rows+i+1)*k] {
		t.f[c] = t.alike[i*k+c] + v
	}
	return t.f
}

// gradeTrackers adds the losses of the pending rows, and bends their parabolas.
func (w *newton) gradeTrackers(p *pending) {
	t, k, rows, h := &w.trackers, w.head.sums(), len(p.labels), w.curvature()
	t.g, t.bend = extend(t.g[:0], k), extend(t.bend[:0], rows)
	for i, y := range p.labels {
		alone := t.alike[i*k : (i+1)*k]
		add := func(sums, f []float64) {
			for j, sum := range sums {
				l := w.head.loss.Value(w.head.part(f, j), w.target(y, j))
				sums[j] = float64(sum*trackerMemory) + float64(p.weights[i]*min(l, 50))
			}
		}
		add(t.alone, alone)
		for m := range t.all {
			add(t.all[m].loss, t.with(m, i, rows, k))
		}
		t.bend[i] = h
		if w.head.probabilities() {
			w.head.loss.Grad(t.g, alone, w.target(y, 0))
			t.bend[i] = curvatureAt(t.g, h)
		}
	}
}

// teach gives tracker m the pending rows.
func (w *newton) teach(p *pending, m int) {
	t, k, rows := &w.trackers, w.head.sums(), len(p.labels)
	a := &t.all[m]
	n := a.n
	if m == 0 { // the products are the same for all
		t.scaled, t.gram = extend(t.scaled[:0], rows*n), extend(t.gram[:0], n*n)
		clear(t.gram)
		for i, weight := range p.weights {
			s := math.Sqrt(weight * t.bend[i])
			for j, v := range t.z[i*n : (i+1)*n] {
				t.scaled[i*n+j] = float32(v * s)
			}
		}
		vec.Gram(t.gram, t.scaled, n, &t.scratch)
	}
	t.moment = extend(t.moment[:0], k*n)
	clear(t.moment)
	total := 0.0
	for i, y := range p.labels {
		f := t.with(m, i, rows, k)
		for j := range w.head.targets() {
			w.head.loss.Grad(w.head.part(t.g, j), w.head.part(f, j), w.target(y, j))
		}
		for c, d := range t.g {
			r := t.off[(m*rows+i)*k+c]
			d = max(-ResidualLimit, min(ResidualLimit, d))
			vec.Axpy(p.weights[i]*(float64(t.bend[i]*r)-d), t.z[i*n:(i+1)*n], t.moment[c*n:(c+1)*n])
		}
		total += p.weights[i]
	}
	a.equations.forget(power(a.forget, rows))
	a.add(t.gram, t.moment, total)
	t.factor = extend(t.factor[:0], n*n)
	if a.factorise(t.factor, trackerPenalty*lastRung*w.fit.lambda) {
		a.solve(a.w, t.factor)
	}
	for _, v := range a.w {
		if !(math.Abs(v) < farthest/10) {
			*a = tracker{forget: a.forget, equations: newEquations(n, k), w: make([]float64, k*n), loss: a.loss}
			break
		}
	}
}

// share sets the shares by the losses.
func (t *trackers) share(task Task) {
	n := len(t.alone)
	for j, alone := range t.alone {
		t.losses = append(t.losses[:0], alone)
		for m := range t.all {
			t.losses = append(t.losses, t.all[m].loss[j])
		}
		shares(t.losses, temper(task, slices.Min(t.losses), trackerMemory))
		for m := range t.all {
			t.mix[m*n+j] = t.losses[1+m]
		}
	}
}

func (t *trackers) save(a *arrays) {
	put(a, "trackers.alone", len(t.alone), t.alone)
	for m := range t.all {
		name := fmt.Sprintf("trackers.%d", m)
		t.all[m].equations.save(a, name)
		put(a, name+".w", t.all[m].n, t.all[m].w)
		put(a, name+".loss", len(t.alone), t.all[m].loss)
	}
}

func (t *trackers) load(s *source) {
	n := len(t.alone)
	t.alone = take[float64](s, "trackers.alone", 1, n)
	for _, l := range t.alone {
		s.want(l >= 0, "the loss without trackers is %v", l)
	}
	for m := range t.all {
		a, name := &t.all[m], fmt.Sprintf("trackers.%d", m)
		a.equations.load(s, name)
		a.w = take[float64](s, name+".w", a.outputs, a.n)
		a.loss = take[float64](s, name+".loss", 1, n)
		for _, l := range a.loss {
			s.want(l >= 0, "the loss of tracker %d is %v", m, l)
		}
		for _, v := range a.w {
			s.want(math.Abs(v) < farthest/10, "a coefficient of tracker %d is %v", m, v)
		}
	}
}
