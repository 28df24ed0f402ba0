package learner

import (
	"math"
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

// gram is ΦᵀΦ/n of a block's features on some rows of the window.
type gram struct {
	rows    float64   // that it is of
	visits  float64   // steps in the block since it was made
	values  []float64 // lower triangle of (2·width)², row by row
	factors []float64 // each member's Cholesky factor; nil where they are not made yet
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

func (w *newton) serving() (blocks int, intercept []float64, coef []float32) {
	k := w.head.sums()
	coef = make([]float32, 0, len(w.wide)/w.columns()*k)
	for i := 0; i < len(w.wide); i += w.columns() {
		coef = append(coef, w.wide[i:i+k]...)
	}
	return w.features.Blocks(), w.levels[:k], coef
}

// serve sets what predictions are made with.
func (w *newton) serve() {
	k, e, n := w.head.sums(), len(w.members), w.head.targets()
	mix, columns := w.mixture(), w.columns()
	all := extend(w.scratch.row[:0], columns-k) // of members and averages
	mixed := func(j int) float64 {
		sum := 0.0
		for m := range w.candidates() {
			sum += float64(mix[m*n+j*n/k] * all[m*k+j])
		}
		return sum
	}
	rows := len(w.w) / (e * k)
	w.wide = extend(w.wide[:0], rows*columns)
	for i := range rows {
		copy(all, w.w[i*e*k:(i+1)*e*k])
		copy(all[e*k:], w.mean[i*averages*k:(i+1)*averages*k])
		to := w.wide[i*columns : (i+1)*columns]
		for j := range k {
			v := mixed(j)
			if i < w.trackers.intercept() {
				v += w.trackers.added(j, i) / w.trackers.norm()
			}
			to[j] = float32(v)
		}
		for j, v := range all {
			to[k+j] = float32(v)
		}
	}
	copy(all, w.intercept)
	copy(all[e*k:], w.level)
	w.levels = extend(w.levels[:0], columns)
	for j := range k {
		w.levels[j] = mixed(j)
		w.levels[j] += w.trackers.added(j, w.trackers.intercept())
	}
	copy(w.levels[k:], all)
	w.scratch.row = all
}

// horizon is the number of mini-batches that averages remember, about.
const horizon = 1000

// average moves the averages towards the members, as the average of an iterate
// in which mini-batch i counts about i³.
func (w *newton) average() {
	w.batches++
	rho := max(1./horizon, (averaging+1)/(float64(w.batches)+averaging))
	k, e := w.head.sums(), len(w.members)
	for i := 0; i*e*k < len(w.w); i++ {
		from, to := w.w[i*e*k:], w.mean[i*averages*k:(i+1)*averages*k]
		for j := range to {
			to[j] += float64(rho * (from[j] - to[j]))
		}
	}
	for j := range w.level {
		w.level[j] += float64(rho * (w.intercept[j] - w.level[j]))
	}
}

// candidates is how many models are mixed: members and averages.
func (w *newton) candidates() int { return len(w.members) + averages }

// mixture returns the weights of each member, one for each target.
func (w *newton) mixture() []float64 {
	n := w.head.targets()
	mix := extend(w.scratch.mix[:0], len(w.loss))
	for j := range n {
		least := w.loss[j]
		for i := j; i < len(w.loss); i += n {
			least = min(least, w.loss[i])
		}
		temperature, sum := temper(w.head.task, least, memory), 0.0
		for i := j; i < len(mix); i += n {
			mix[i] = vec.Exp(-temperature * (w.loss[i] - least))
			sum += mix[i]
		}
		for i := j; i < len(mix); i += n {
			mix[i] /= sum
		}
	}
	w.scratch.mix = mix
	return mix
}

// memory is the factor of the losses so far for each row.
const memory = 0.9999

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

// step changes one block.
func (w *newton) step() {
	n, k, e, most := w.window.rows, w.head.sums(), len(w.members), w.config.maxBlocks()
	size := 2 * w.config.Width
	s, v := &w.scratch, &w.window
	b := w.next % most
	w.next = (b + 1) % most
	if b == w.features.Blocks() {
		w.features.Grow(b + 1)
		w.w = append(w.w, make([]float64, size*e*k)...)
		w.mean = append(w.mean, make([]float64, size*averages*k)...)
		w.grams = append(w.grams, gram{})
	}
	if !w.gradient() {
		return
	}
	s.slope = extend(s.slope[:0], size*e*k)
	w.features.Gradient(s.slope, b, v.x, s.g, e*k)
	w.refresh(b)

	g := &w.grams[b]
	coef := w.w[b*size*e*k : (b+1)*size*e*k]
	s.step = extend(s.step[:0], size*e*k)
	s.size = extend(s.size[:0], e*k)
	s.v = extend(s.v[:0], size)
	for m := range w.members {
		penalty := w.penalty(m, float64(n))
		factor := g.factors[m*size*size : (m+1)*size*size]
		for j := range k {
			c := m*k + j
			for i := range size {
				s.slope[i*e*k+c] += float64(penalty * coef[i*e*k+c])
				s.v[i] = s.slope[i*e*k+c]
			}
			vec.CholeskySolve(factor, size, s.v)
			gain, square := 0.0, 0.0
			for i, d := range s.v {
				d32 := float32(d)
				s.step[i*e*k+c] = d32
				d = float64(d32)
				gain += float64(d * s.slope[i*e*k+c])
				square += float64(d * d)
			}
			s.size[c] = gain
			s.slope[c] = float64(penalty * square) // done with
		}
	}
	s.sums = extend(s.sums[:0], n*e*k)
	w.features.SumBlocks(s.sums, b, v.x, s.step, e*k)
	w.lengths()
	for i, d := range s.step {
		coef[i] -= float64(s.size[i%(e*k)] * float64(d))
	}
	for i := range n {
		f, d := v.f[i*e*k:(i+1)*e*k], s.sums[i*e*k:(i+1)*e*k]
		for c, t := range s.size {
			f[c] -= float64(t * d[c])
		}
	}
	w.guard(coef)
}

// penalty returns the weight of half the squares of a member's coefficients for a
// window of some rows. A member has what is right for gramRows of them and more;
// fewer say less beside their noise.
func (w *newton) penalty(m int, rows float64) float64 {
	few := math.Sqrt(max(1, gramRows/rows))
	return few * w.fit.lambda * w.members[m].lambda * float64(w.config.maxBlocks()*w.config.Width)
}

// curvature bounds the second derivative of the loss, or stands for it where
// there is no bound.
func (w *newton) curvature() float64 { return min(10, w.head.loss.Smoothness()) }

// gradient sets g to the gradient of each member's weighted mean loss in the
// sums of each row of the window, and moves the intercepts. It says false where
// no row has a weight.
func (w *newton) gradient() bool {
	n, k, e, targets := w.window.rows, w.head.sums(), len(w.members), w.head.targets()
	s, v := &w.scratch, &w.window
	s.g = extend(s.g[:0], n*e*k)
	s.total = extend(s.total[:0], e)
	total := s.total
	clear(total)
	for i, weight := range v.weights[:n] {
		age := v.age(i)
		for m, who := range w.members {
			if age < who.rows {
				total[m] += weight
			}
		}
	}
	for _, t := range total {
		if !(t > 1e-100) {
			return false
		}
	}
	mean := make([]float64, e*k)
	const some = 64 // rows, whose gradients stay in a cache
	for from := 0; from < n; from += some {
		end := min(from+some, n)
		w.head.grads(s.g[from*e*k:end*e*k], v.f[from*e*k:end*e*k], v.targets[from*targets:end*targets], e)
		for i := from; i < end; i++ {
			age := v.age(i)
			for m, who := range w.members {
				g := s.g[(i*e+m)*k : (i*e+m+1)*k]
				share := v.weights[i] / total[m]
				if age >= who.rows || share == 0 {
					clear(g)
					continue
				}
				for j, d := range g {
					g[j] = float64(share * max(-ResidualLimit, min(ResidualLimit, d)))
					mean[m*k+j] += g[j]
				}
			}
		}
	}
	// The intercepts move first, and the gradient with them only at the next step:
	// they take half of their own Newton step.
	h := w.curvature()
	for c, d := range mean {
		mean[c] = d * 0.5 / h
		w.intercept[c] -= mean[c]
	}
	for i := 0; i < n*e*k; i += e * k {
		for c, d := range mean {
			v.f[i+c] -= d
		}
	}
	return true
}

// lengths turns the gains of the step in each output into how far it goes: to
// the least of a parabola along it, whatever rows the Gram matrix is of. The
// parabola has the bound of the loss's curvature, so that no step makes the
// window's loss greater; where the loss is one of probabilities p, whose
// curvature p(1-p) is far below its bound for most rows, twice that and a little.
func (w *newton) lengths() {
	n, k, e, h := w.window.rows, w.head.sums(), len(w.members), w.curvature()
	s, v := &w.scratch, &w.window
	logarithmic := w.head.task == Classification && !w.head.margins()
	bend := make([]float64, e*k)
	for i := range n {
		weight, age := v.weights[i], v.age(i)
		for m, who := range w.members {
			if age >= who.rows || weight == 0 {
				continue
			}
			share := weight / s.total[m]
			at := (i*e + m) * k
			for j, d := range s.sums[at : at+k] {
				c := h
				if logarithmic {
					p := math.Abs(s.g[at+j]) / share
					c = min(h, float64(2*p*(1-p))+0.01)
				}
				bend[m*k+j] += float64(share * float64(c*float64(d*d)))
			}
		}
	}
	for c, gain := range s.size {
		bound := bend[c] + s.slope[c]
		t := 0.0
		if gain > 0 && bound > 0 {
			t = min(farthestStep, gain/bound)
		}
		s.size[c] = t
	}
}

// farthestStep bounds a step in units of that of the bound of the curvature.
const farthestStep = 4

// refresh makes the Gram matrix of a block anew from the last rows, if it is
// time to, and the factors that come from it.
func (w *newton) refresh(b int) {
	v, g := &w.window, &w.grams[b]
	g.visits++
	if n := float64(min(v.rows, gramRows)); g.rows < n || g.visits > gramVisits {
		w.makeGram(b)
		g.visits, g.factors = 1, nil
	}
	if g.factors == nil {
		w.factorise(g)
	}
}

// factorise makes the factor of each member: of its matrix of Newton's
// equations, with the bound of the curvature.
func (w *newton) factorise(g *gram) {
	size, h := 2*w.config.Width, w.curvature()
	g.factors = make([]float64, len(w.members)*size*size)
	for m := range w.members {
		factor := g.factors[m*size*size : (m+1)*size*size]
		ridge := float64(w.penalty(m, g.rows)) + float64(w.config.Width)/2/g.rows
		at := 0
		for i := range size {
			row := factor[i*size : i*size+i+1]
			for j, v := range g.values[at : at+i+1] {
				row[j] = stretch * h * v
			}
			at += i + 1
			row[i] += ridge
		}
		if !vec.Cholesky(factor, size) { // not with finite features
			for i := range size {
				clear(factor[i*size : (i+1)*size])
				factor[i*size+i] = 1
			}
		}
	}
}

func (w *newton) makeGram(b int) {
	size, s, v, g := 2*w.config.Width, &w.scratch, &w.window, &w.grams[b]
	n := min(v.rows, gramRows)
	s.gram = extend(s.gram[:0], size*size)
	clear(s.gram)
	// The last n rows are one or two runs of the ring.
	from := (v.at - n + v.rows) % v.rows
	for left := n; left > 0; {
		run := min(left, v.rows-from)
		s.phi = extend(s.phi[:0], run*size)
		w.features.Features(s.phi, b, v.x[from*w.dim:(from+run)*w.dim])
		vec.Gram(s.gram, s.phi, size, &s.vec)
		left -= run
		from = 0
	}
	if g.values == nil {
		g.values = make([]float64, size*(size+1)/2)
	}
	g.rows = float64(n)
	at := 0
	for i := range size {
		for j, d := range s.gram[i*size : i*size+i+1] {
			g.values[at+j] = d / g.rows
		}
		at += i + 1
	}
}

// guard begins a member anew that has left the numbers one can compute with, in
// its loss, its intercepts or the coefficients given, which are a block's.
func (w *newton) guard(coef []float64) {
	k, e, n := w.head.sums(), len(w.members), w.head.targets()
	for m := range w.members {
		fine := true
		for _, l := range w.loss[m*n : (m+1)*n] {
			fine = fine && l < 1e300
		}
		for i := m * k; i < len(coef) && fine; i += e * k {
			for _, v := range coef[i : i+k] {
				fine = fine && math.Abs(v) < farthest/10
			}
		}
		for _, v := range w.intercept[m*k : (m+1)*k] {
			fine = fine && math.Abs(v) < farthest/10
		}
		if fine {
			continue
		}
		for i := m * k; i < len(w.w); i += e * k {
			clear(w.w[i : i+k])
		}
		clear(w.intercept[m*k : (m+1)*k])
		for i := m * k; i < len(w.window.f); i += e * k {
			clear(w.window.f[i : i+k])
		}
		clear(w.loss[m*n : (m+1)*n])
		if m < averages {
			for i := m * k; i < len(w.mean); i += averages * k {
				clear(w.mean[i : i+k])
			}
			clear(w.level[m*k : (m+1)*k])
		}
	}
}

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

// newtonFields are the columns of the array "newton".
const (
	newtonNext = iota
	newtonCredit
	newtonRows
	newtonAt
	newtonBatches
	newtonFields
)

func (w *newton) save(a *arrays) {
	k, e, v := w.head.sums(), len(w.members), &w.window
	w.trackers.save(a)
	put(a, "newton", newtonFields, []int64{int64(w.next), w.credit, int64(v.rows), int64(v.at), w.batches})
	put(a, "members.intercepts", k, w.intercept)
	put(a, "members.w", e*k, w.w)
	put(a, "averages.intercepts", k, w.level)
	put(a, "averages.w", averages*k, w.mean)
	put(a, "members.loss", w.head.targets(), w.loss)
	put(a, "window.x", w.dim, v.x)
	put(a, "window.targets", w.head.targets(), v.targets)
	put(a, "window.weights", 1, v.weights)
	put(a, "window.f", e*k, v.f)
	size := 2 * w.config.Width
	triangle := size * (size + 1) / 2
	rows, values := make([]float64, 0, 2*len(w.grams)), make([]float64, len(w.grams)*triangle)
	for i, g := range w.grams {
		rows = append(rows, g.rows, g.visits)
		copy(values[i*triangle:], g.values)
	}
	put(a, "gram.rows", 2, rows)
	own(a, "gram", triangle, values)
}

func (w *newton) load(s *source, v serving, steps int64) {
	w.trackers.load(s)
	counters := take[int64](s, "newton", 1, newtonFields)
	if s.err != nil {
		return
	}
	k, e, size, blocks := w.head.sums(), len(w.members), 2*w.config.Width, v.blocks
	n := counters[newtonRows]
	s.want(n >= 0 && n <= windowRows, "a window of %d rows", n)
	s.want(counters[newtonNext] >= 0 && counters[newtonNext] <= int64(blocks) && counters[newtonNext] < int64(w.config.maxBlocks()), "the next block is %d of %d", counters[newtonNext], blocks)
	s.want(blocks == w.config.maxBlocks() || counters[newtonNext] == int64(blocks), "block %d is next after %d", counters[newtonNext], blocks)
	s.want(counters[newtonCredit] >= 0 && counters[newtonCredit] <= windowRows, "credit is %d", counters[newtonCredit])
	s.want(counters[newtonAt] >= 0 && (counters[newtonAt] == 0 || n == windowRows && counters[newtonAt] < n), "the window ends at %d", counters[newtonAt])
	if s.err != nil {
		return
	}
	w.next, w.credit, w.batches = int(counters[newtonNext]), counters[newtonCredit], counters[newtonBatches]
	s.want(w.batches >= 0 && w.batches <= steps, "averages of %d mini-batches of %d", w.batches, steps)
	w.intercept = take[float64](s, "members.intercepts", e, k)
	w.w = take[float64](s, "members.w", blocks*size, e*k)
	w.level = take[float64](s, "averages.intercepts", averages, k)
	w.mean = take[float64](s, "averages.w", blocks*size, averages*k)
	w.loss = take[float64](s, "members.loss", w.candidates(), w.head.targets())
	w.window = window{
		rows: int(n), at: int(counters[newtonAt]),
		x:       take[float32](s, "window.x", int(n), w.dim),
		targets: take[float64](s, "window.targets", int(n), w.head.targets()),
		weights: take[float64](s, "window.weights", int(n), 1),
		f:       take[float64](s, "window.f", int(n), e*k),
	}
	triangle := size * (size + 1) / 2
	rows := take[float64](s, "gram.rows", blocks, 2)
	values := take[float64](s, "gram", blocks, triangle)
	if s.err != nil {
		return
	}
	for i := range blocks {
		r, visits := rows[2*i], rows[2*i+1]
		s.want(r >= 0 && r <= gramRows && visits >= 0 && visits <= gramVisits, "a Gram matrix of %v rows and %v visits", r, visits)
		w.grams = append(w.grams, gram{rows: r, visits: visits, values: values[i*triangle : (i+1)*triangle : (i+1)*triangle]})
	}
	for _, t := range w.window.targets {
		s.want(w.head.task == Regression || t >= 0 && t < float64(w.head.classes) && t == math.Trunc(t), "the window has class %v", t)
	}
	for _, v := range w.window.weights {
		s.want(v >= 0, "the window has a weight of %v", v)
	}
	for _, l := range w.loss {
		s.want(l >= 0, "the loss of a member is %v", l)
	}
	for _, c := range slices.Concat(w.w, w.mean) {
		s.want(math.Abs(c) < farthest/10, "a coefficient is %v", c)
	}
	if s.err != nil {
		return
	}
	w.features = v.bank()
	w.trackers.share(w.head.task)
	w.serve()
	_, intercept, coef := w.serving()
	s.want(slices.Equal(intercept, v.intercept) && slices.Equal(coef, v.coef), "not the coefficients of the serving part")
}
