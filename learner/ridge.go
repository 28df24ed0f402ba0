package learner

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
)

// ridge is least squares on a few random features, by its normal equations and
// so exact: one-vs-rest with targets ±1 for classes. It solves them for several
// rates of forgetting at once, and predicts with a mixture of the solutions,
// each weighted by how well it did of late (exponential weights: Vovk 1990). On
// a stream that stays as it is this is the solution for all rows; on one that
// changes, that for as many as still count.
//
// Candidate 0 is the mixture. The others are the members of it, one for each rate.
type ridge struct {
	problem
	features  *features.Bank
	penalty   float64 // on each squared coefficient, in units of a row's squared error
	steps     int64
	members   []forgetful
	noise     []float64 // squared error of the mixture of late, for each target
	intercept []float64
	wide      []float32 // as predictions use it: features × columns

	phi, z  []float32 // scratch; z is weighted and has the intercept
	gram    []float64
	moment  []float64
	wanted  []float64 // rows × outputs
	scratch vec.Scratch
	narrow  []float32
	losses  []float64
}

// forgetful is the solution with one rate of forgetting.
type forgetful struct {
	forget float64 // what a row counts after each that follows
	equations
	w []float64 // outputs × n: as of when it was solved for

	// For each target:
	solved []float64 // rows, at that time
	error  []float64 // of late
	share  []float64 // of the mixture

	factor []float64 // scratch
}

const (
	ridgeMost   = 256 // frequencies: the time to solve grows with their cube
	ridgeMemory = 0.9994
	ridgeMinor  = 1e-3 // the share of a forgetful that is not solved for every time
	ridgeEvery  = 8    // mini-batches after which it is
)

var forgetting = []float64{1, 0.9995, 0.998, 0.99}

func ridgeBlocks(c options) int { return max(1, min(c.MaxFeatures, ridgeMost)/c.Width) }

func newRidge(p problem) *ridge {
	most := ridgeBlocks(p.config)
	r := &ridge{problem: p, features: p.bank(), penalty: p.fit.lambda * lastRung, noise: make([]float64, p.head.targets())}
	r.features.Grow(most)
	n, k, targets := 2*p.config.Width*most+1, p.head.sums(), p.head.targets()
	for _, f := range forgetting {
		m := forgetful{forget: f, equations: newEquations(n, k), w: make([]float64, k*n)}
		m.solved, m.error, m.share = make([]float64, targets), make([]float64, targets), make([]float64, targets)
		for j := range m.share {
			m.share[j] = 1 / float64(len(forgetting))
		}
		r.members = append(r.members, m)
	}
	for i := range r.members {
		for j, b := range p.prior {
			r.members[i].w[j*n+n-1] = b
		}
	}
	r.serve()
	return r
}

func (r *ridge) n() int           { return r.members[0].n }
func (r *ridge) columns() int     { return len(r.intercept) }
func (r *ridge) served() int      { return 0 }
func (r *ridge) frequencies() int { return r.features.Blocks() * r.config.Width }

func (r *ridge) sums(dst []float64, x []float32, n int) []float64 {
	return addUp(dst, r.features, x, r.wide, r.intercept, n)
}

// norm is what the features are divided by to have norm 1.
func (r *ridge) norm() float64 { return math.Sqrt(float64(r.frequencies())) }

// serve mixes the members.
func (r *ridge) serve() {
	n, k, targets := r.n(), r.head.sums(), r.head.targets()
	columns := k * (1 + len(r.members))
	r.wide = extend(r.wide[:0], (n-1)*columns)
	r.intercept = extend(r.intercept[:0], columns)
	scale := 1 / r.norm()
	for i := range n {
		row, c := r.intercept, 1.0
		for j := range k {
			mixed := 0.0
			for e := range r.members {
				w := r.members[e].w[j*n+i]
				mixed += float64(r.members[e].share[j*targets/k] * w)
				if i < n-1 {
					r.wide[i*columns+(1+e)*k+j] = float32(scale * w)
				} else {
					row[(1+e)*k+j] = c * w
				}
			}
			if i < n-1 {
				r.wide[i*columns+j] = float32(scale * mixed)
			} else {
				row[j] = c * mixed
			}
		}
	}
}

func (r *ridge) serving() served {
	k, columns := r.head.sums(), r.columns()
	r.narrow = r.narrow[:0]
	for i := 0; i < len(r.wide); i += columns {
		r.narrow = append(r.narrow, r.wide[i:i+k]...)
	}
	return served{r.features.Blocks(), r.intercept[:k], r.narrow}
}

// targets sets t to what the outputs should be.
func (r *ridge) targets(t []float64, y Label) {
	if r.head.task == Regression {
		for j := range t {
			t[j] = max(-ResidualLimit, min(ResidualLimit, r.head.target(y, j)))
		}
		return
	}
	clear(t)
	r.head.grad(t, t, y) // of outputs 0
	for i, g := range t {
		t[i] = -g
	}
}

func (r *ridge) learn(p *pending) {
	n, k, rows := r.n(), r.head.sums(), len(p.labels)
	r.wanted = extend(r.wanted[:0], rows*k)
	for i, y := range p.labels {
		r.targets(r.wanted[i*k:(i+1)*k], y)
	}
	r.weigh(p)

	r.phi = extend(r.phi[:0], rows*(n-1))
	r.features.Features(r.phi, 0, p.x)
	r.z = extend(r.z[:0], rows*n)
	z := r.z
	r.moment = extend(r.moment[:0], k*n)
	clear(r.moment)
	weight, scale := 0.0, 1/r.norm()
	for i := range rows {
		row, w := z[i*n:(i+1)*n], math.Sqrt(p.weights[i])
		for j, v := range r.phi[i*(n-1) : (i+1)*(n-1)] {
			row[j] = float32(float64(v) * scale * w)
		}
		row[n-1] = float32(w)
		for j, t := range r.wanted[i*k : (i+1)*k] {
			t *= w
			m := r.moment[j*n : (j+1)*n]
			for l, v := range row {
				m[l] += float64(t * float64(v))
			}
		}
		weight += p.weights[i]
	}
	r.gram = extend(r.gram[:0], n*n)
	clear(r.gram)
	vec.Gram(r.gram, z, n, &r.scratch)

	r.steps++
	if n < 200 { // not worth a goroutine
		for e := range r.members {
			r.teach(&r.members[e], rows, weight)
		}
	} else {
		var wait sync.WaitGroup
		for e := range r.members {
			wait.Go(func() { r.teach(&r.members[e], rows, weight) })
		}
		wait.Wait()
	}
	r.serve()
}

// teach gives a member the rows whose products are in gram and moment.
func (r *ridge) teach(m *forgetful, rows int, weight float64) {
	m.equations.forget(power(m.forget, rows))
	m.add(r.gram, r.moment, weight)
	m.solveFor(r.penalty, func(j int) bool { return r.due(m, j) })
}

// react makes the rows so far count a tenth, or a hundredth.
func (r *ridge) react(to reaction) {
	f := 0.1
	if to == reactForget {
		f = 0.01
	}
	for e := range r.members {
		m := &r.members[e]
		m.equations.forget(f)
		clear(m.error)
		clear(m.solved)
	}
}

// due says whether a forgetful is to be solved for, for target j: where its rows have grown by a
// twentieth or it forgets, and less often where it hardly counts.
func (r *ridge) due(m *forgetful, j int) bool {
	grown := m.forget < 1 || m.rows >= ridgeGrowth*m.solved[j]
	return grown && (m.share[j] >= ridgeMinor || r.steps%ridgeEvery == 0)
}

// solveFor solves for the targets that are due.
func (m *forgetful) solveFor(penalty float64, due func(j int) bool) {
	k := m.outputs / len(m.share)
	factorised := false
	for j := range m.share {
		if !due(j) {
			continue
		}
		if !factorised {
			m.factor = extend(m.factor[:0], m.n*m.n)
			if !m.factorise(m.factor, penalty) {
				return
			}
			factorised = true
		}
		m.solveSome(m.w, m.factor, j*k, (j+1)*k)
		m.solved[j] = m.rows
	}
}

// weigh grades the members on the rows of p, which they have not learned, and
// sets their shares in the mixture.
func (r *ridge) weigh(p *pending) {
	k, columns, rows, targets := r.head.sums(), r.columns(), len(p.labels), r.head.targets()
	decay := power(ridgeMemory, rows)
	limit := 1.5 // margins beyond are right or wrong, and no more
	if r.head.task == Regression {
		limit = 2 * ResidualLimit
	}
	for at := range (1 + len(r.members)) * targets {
		e, j := at/targets-1, at%targets
		sum, total := 0.0, 0.0
		for i, weight := range p.weights {
			f := r.head.part(p.f[i*columns+(1+e)*k:i*columns+(2+e)*k], j)
			for c, t := range r.head.part(r.wanted[i*k:(i+1)*k], j) {
				d := max(-limit, min(limit, f[c])) - t
				sum += float64(weight * float64(d*d))
			}
			total += weight
		}
		sum /= float64(k / targets)
		if e < 0 {
			if total > 0 {
				r.noise[j] += float64(max(1/float64(r.steps+1), 1-decay) * (sum/total - r.noise[j]))
			}
			continue
		}
		m := &r.members[e]
		m.error[j] = float64(decay*m.error[j]) + float64(0.5*sum)
	}
	r.share()
}

// share sets the shares of the members by their recent errors.
func (r *ridge) share() {
	for j := range r.noise {
		r.losses = r.losses[:0]
		for e := range r.members {
			r.losses = append(r.losses, r.members[e].error[j])
		}
		shares(r.losses, 1)
		for e := range r.members {
			r.members[e].share[j] = r.losses[e]
		}
	}
}

func (r *ridge) widen(h head, prior []float64, total float64) {
	from := r.head.sums()
	r.head = h
	n, k := r.n(), h.sums()
	for e := range r.members {
		m := &r.members[e]
		switch {
		case k == from: // from one class to two
			m.w[n-1] = prior[0]
		default:
			w := m.w
			if from == 1 {
				w = make([]float64, 0, k*n)
				for _, v := range m.w {
					w = append(w, -v)
				}
				w = append(w, m.w...)
			}
			m.w = append(w, make([]float64, n)...)
			m.w[len(m.w)-1] = h.newcomer(nil, total)
			m.equations.widen(k)
		}
	}
	r.serve()
}

func (r *ridge) save(a *arrays) {
	put(a, "ridge.counters", 1, []int64{r.steps})
	figures := slices.Clone(r.noise)
	for e := range r.members {
		m := &r.members[e]
		figures = slices.Concat(figures, m.solved, m.error, m.share)
	}
	put(a, "ridge.figures", 1, figures)
	for e := range r.members {
		name := fmt.Sprintf("ridge.%d", e)
		r.members[e].equations.save(a, name)
		put(a, name+".w", r.n(), r.members[e].w)
	}
}

func (r *ridge) load(s *source, v served, steps int64) {
	counters := take[int64](s, "ridge.counters", 1, 1)
	targets := r.head.targets()
	figures := take[float64](s, "ridge.figures", (1+3*len(r.members))*targets, 1)
	if s.err != nil {
		return
	}
	r.steps = counters[0]
	s.want(r.steps >= 0 && r.steps <= steps, "%d steps of %d", r.steps, steps)
	s.want(slices.Min(figures) >= 0, "ridge: a figure is %v", slices.Min(figures))
	next := func(to []float64) { figures = figures[copy(to, figures):] }
	next(r.noise)
	for e := range r.members {
		m, name := &r.members[e], fmt.Sprintf("ridge.%d", e)
		next(m.solved)
		next(m.error)
		next(m.share)
		s.want(slices.Max(m.share) <= 1, "forgetful %d has the shares %v", e, m.share)
		m.equations.load(s, name)
		m.w = take[float64](s, name+".w", m.outputs, m.n)
	}
	if s.err != nil {
		return
	}
	r.serve()
	v.check(s, r)
}

// merge adds what o has learned since base.
func (r *ridge) merge(other, start engine) {
	o, base := other.(*ridge), start.(*ridge)
	rows := int(o.steps-base.steps) * r.config.Minibatch
	for e := range r.members {
		m, other, before := &r.members[e], &o.members[e], &base.members[e]
		m.plus(1, other.equations)
		m.plus(-power(m.forget, rows), before.equations)
		for j := range m.error {
			m.error[j] = max(0, m.error[j]+other.error[j]-float64(power(ridgeMemory, rows)*before.error[j]))
		}
		m.solveFor(r.penalty, func(int) bool { return true })
	}
	if steps := r.steps + o.steps; steps > 0 {
		for j := range r.noise {
			r.noise[j] += float64((o.noise[j] - r.noise[j]) * (float64(o.steps) / float64(steps)))
		}
	}
	r.steps += o.steps - base.steps
	r.share()
	r.serve()
}

// variance returns the variance of the label around its prediction for each scaled
// row of x and each target, by the member that counts most for it: rows × targets,
// or nil where the equations have no solution.
func (r *ridge) variance(x []float32) []float64 {
	n, rows, targets := r.n(), len(x)/r.dim, r.head.targets()
	phi, z := make([]float32, rows*(n-1)), make([]float64, n)
	r.features.Features(phi, 0, x)
	out := make([]float64, rows*targets)
	factor, inverse := make([]float64, n*n), make([]float64, n*n)
	for e := range r.members {
		m, parameters := &r.members[e], 0.0
		for j, u := range r.head.units {
			if r.best(j) != e {
				continue
			}
			if parameters == 0 { // the first target of the member
				if !m.factorise(factor, r.penalty) {
					return nil
				}
				// Rows that were predicted had a leverage too, on average that of as many
				// parameters as the penalty leaves: n - penalty·tr gram⁻¹.
				vec.InvertCholesky(inverse, factor, n)
				parameters = float64(n)
				for i := range n - 1 {
					row := inverse[i*n+i : (i+1)*n]
					parameters -= float64(r.penalty * vec.Dot(row, row))
				}
			}
			scatter := r.noise[j] / (1 + max(0, parameters)/max(1, m.rows))
			scatter *= float64(u.deviation * u.deviation)
			for i := range rows {
				for l, v := range phi[i*(n-1) : (i+1)*(n-1)] {
					z[l] = float64(v) / r.norm()
				}
				z[n-1] = 1
				out[i*targets+j] = scatter * (1 + leverage(factor, z))
			}
		}
	}
	return out
}

// best is the member that counts most for target j.
func (r *ridge) best(j int) int {
	best := 0
	for e := range r.members {
		if r.members[e].share[j] > r.members[best].share[j] {
			best = e
		}
	}
	return best
}

var ridgeRow = algorithm{
	name: "ridge", help: "exact least squares on at most 256 random features, at several rates of forgetting",
	new:       func(p problem) engine { return newRidge(p) },
	minibatch: 32, width: 32, loss: ridgeLoss, fixedBlocks: ridgeBlocks,
}

// ridgeLoss has least squares for the square loss and for one-vs-rest, and for
// nothing else.
func ridgeLoss(chosen loss.Loss, task Task) (loss.Loss, error) {
	switch {
	case chosen == nil && task == Classification:
		return loss.OneVsRest{}, nil
	case chosen == nil || chosen == loss.Square{} || chosen == loss.OneVsRest{}:
		return chosen, nil
	}
	return nil, fmt.Errorf("ridge minimises square or one-vs-rest, and the loss is %s", chosen)
}
