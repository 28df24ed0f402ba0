package ridge

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
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
	engine.Problem
	bank      *features.Bank
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
	leastsquares.Equations
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

func ridgeBlocks(c engine.Options) int { return max(1, min(c.MaxFeatures, ridgeMost)/c.BlockSize) }

func newEngine(p engine.Problem) *ridge {
	most := ridgeBlocks(p.Options)
	r := &ridge{Problem: p, bank: p.Bank(), penalty: p.Fit.Lambda * warmup.LastCheckpoint, noise: make([]float64, p.Head.Targets())}
	r.bank.Grow(most)
	n, k, targets := 2*p.Options.BlockSize*most+1, p.Head.Scores(), p.Head.Targets()
	for _, f := range forgetting {
		m := forgetful{forget: f, Equations: leastsquares.New(n, k), w: make([]float64, k*n)}
		m.solved, m.error, m.share = make([]float64, targets), make([]float64, targets), make([]float64, targets)
		for j := range m.share {
			m.share[j] = 1 / float64(len(forgetting))
		}
		r.members = append(r.members, m)
	}
	for i := range r.members {
		for j, b := range p.Prior {
			r.members[i].w[j*n+n-1] = b
		}
	}
	r.serve()
	return r
}

func (r *ridge) n() int        { return r.members[0].N }
func (r *ridge) Columns() int  { return len(r.intercept) }
func (r *ridge) Served() int   { return 0 }
func (r *ridge) Features() int { return r.bank.Blocks() * r.Options.BlockSize }

func (r *ridge) Score(dst []float64, x []float32, n int) []float64 {
	return engine.Scores(dst, r.bank, x, r.wide, r.intercept, n)
}

// norm is what the features are divided by to have norm 1.
func (r *ridge) norm() float64 { return math.Sqrt(float64(r.Features())) }

// serve mixes the members.
func (r *ridge) serve() {
	n, k, targets := r.n(), r.Head.Scores(), r.Head.Targets()
	columns := k * (1 + len(r.members))
	r.wide = state.Extend(r.wide[:0], (n-1)*columns)
	r.intercept = state.Extend(r.intercept[:0], columns)
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

func (r *ridge) Serving() engine.Served {
	k, columns := r.Head.Scores(), r.Columns()
	r.narrow = r.narrow[:0]
	for i := 0; i < len(r.wide); i += columns {
		r.narrow = append(r.narrow, r.wide[i:i+k]...)
	}
	return engine.Served{Blocks: r.bank.Blocks(), Intercept: r.intercept[:k], Coef: r.narrow}
}

// targets sets t to what the outputs should be.
func (r *ridge) targets(t []float64, y target.Label) {
	if r.Head.Task == target.Regression {
		for j := range t {
			t[j] = max(-target.MaxResidual, min(target.MaxResidual, r.Head.Target(y, j)))
		}
		return
	}
	clear(t)
	r.Head.Grad(t, t, y) // of outputs 0
	for i, g := range t {
		t[i] = -g
	}
}

func (r *ridge) Learn(p *engine.Minibatch) {
	n, k, rows := r.n(), r.Head.Scores(), len(p.Labels)
	r.wanted = state.Extend(r.wanted[:0], rows*k)
	for i, y := range p.Labels {
		r.targets(r.wanted[i*k:(i+1)*k], y)
	}
	r.weigh(p)

	r.phi = state.Extend(r.phi[:0], rows*(n-1))
	r.bank.Features(r.phi, 0, p.X)
	r.z = state.Extend(r.z[:0], rows*n)
	z := r.z
	r.moment = state.Extend(r.moment[:0], k*n)
	clear(r.moment)
	weight, scale := 0.0, 1/r.norm()
	for i := range rows {
		row, w := z[i*n:(i+1)*n], math.Sqrt(p.Weights[i])
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
		weight += p.Weights[i]
	}
	r.gram = state.Extend(r.gram[:0], n*n)
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
	m.Equations.Forget(leastsquares.Power(m.forget, rows))
	m.Add(r.gram, r.moment, weight)
	m.solveFor(r.penalty, func(j int) bool { return r.due(m, j) })
}

// React makes the rows so far count a tenth, or a hundredth.
func (r *ridge) React(to engine.Reaction) {
	f := 0.1
	if to == engine.ReactForget {
		f = 0.01
	}
	for e := range r.members {
		m := &r.members[e]
		m.Equations.Forget(f)
		clear(m.error)
		clear(m.solved)
	}
}

// due says whether a forgetful is to be solved for, for target j: where its rows have grown by a
// twentieth or it forgets, and less often where it hardly counts.
func (r *ridge) due(m *forgetful, j int) bool {
	grown := m.forget < 1 || m.Rows >= leastsquares.Growth*m.solved[j]
	return grown && (m.share[j] >= ridgeMinor || r.steps%ridgeEvery == 0)
}

// solveFor solves for the targets that are due.
func (m *forgetful) solveFor(penalty float64, due func(j int) bool) {
	k := m.Outputs / len(m.share)
	factorised := false
	for j := range m.share {
		if !due(j) {
			continue
		}
		if !factorised {
			m.factor = state.Extend(m.factor[:0], m.N*m.N)
			if !m.Factorise(m.factor, penalty) {
				return
			}
			factorised = true
		}
		m.SolveSome(m.w, m.factor, j*k, (j+1)*k)
		m.solved[j] = m.Rows
	}
}

// weigh grades the members on the rows of p, which they have not learned, and
// sets their shares in the mixture.
func (r *ridge) weigh(p *engine.Minibatch) {
	k, columns, rows, targets := r.Head.Scores(), r.Columns(), len(p.Labels), r.Head.Targets()
	decay := leastsquares.Power(ridgeMemory, rows)
	limit := 1.5 // margins beyond are right or wrong, and no more
	if r.Head.Task == target.Regression {
		limit = 2 * target.MaxResidual
	}
	for at := range (1 + len(r.members)) * targets {
		e, j := at/targets-1, at%targets
		sum, total := 0.0, 0.0
		for i, weight := range p.Weights {
			f := r.Head.Part(p.Scores[i*columns+(1+e)*k:i*columns+(2+e)*k], j)
			for c, t := range r.Head.Part(r.wanted[i*k:(i+1)*k], j) {
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
		mixture.Shares(r.losses, 1)
		for e := range r.members {
			r.members[e].share[j] = r.losses[e]
		}
	}
}

func (r *ridge) Widen(h target.Head, prior []float64, total float64) {
	from := r.Head.Scores()
	r.Head = h
	n, k := r.n(), h.Scores()
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
			m.w[len(m.w)-1] = h.NewClassScore(nil, total)
			m.Equations.Widen(k)
		}
	}
	r.serve()
}

func (r *ridge) Save(a *state.Arrays) {
	state.Put(a, "ridge.counters", 1, []int64{r.steps})
	figures := slices.Clone(r.noise)
	for e := range r.members {
		m := &r.members[e]
		figures = slices.Concat(figures, m.solved, m.error, m.share)
	}
	state.Put(a, "ridge.figures", 1, figures)
	for e := range r.members {
		name := fmt.Sprintf("ridge.%d", e)
		r.members[e].Equations.Save(a, name)
		state.Put(a, name+".w", r.n(), r.members[e].w)
	}
}

func (r *ridge) Load(s *state.Reader, v engine.Served, steps int64) {
	counters := state.Take[int64](s, "ridge.counters", 1, 1)
	targets := r.Head.Targets()
	figures := state.Take[float64](s, "ridge.figures", (1+3*len(r.members))*targets, 1)
	if s.Err != nil {
		return
	}
	r.steps = counters[0]
	s.Require(r.steps >= 0 && r.steps <= steps, "%d steps of %d", r.steps, steps)
	s.Require(slices.Min(figures) >= 0, "ridge: a figure is %v", slices.Min(figures))
	next := func(to []float64) { figures = figures[copy(to, figures):] }
	next(r.noise)
	for e := range r.members {
		m, name := &r.members[e], fmt.Sprintf("ridge.%d", e)
		next(m.solved)
		next(m.error)
		next(m.share)
		s.Require(slices.Max(m.share) <= 1, "forgetful %d has the shares %v", e, m.share)
		m.Equations.Load(s, name)
		m.w = state.Take[float64](s, name+".w", m.Outputs, m.N)
	}
	if s.Err != nil {
		return
	}
	r.serve()
	v.Check(s, r)
}

// Merge adds what o has learned since base.
func (r *ridge) Merge(other, start engine.Engine) {
	o, base := other.(*ridge), start.(*ridge)
	rows := int(o.steps-base.steps) * r.Options.Minibatch
	for e := range r.members {
		m, other, before := &r.members[e], &o.members[e], &base.members[e]
		m.Plus(1, other.Equations)
		m.Plus(-leastsquares.Power(m.forget, rows), before.Equations)
		for j := range m.error {
			m.error[j] = max(0, m.error[j]+other.error[j]-float64(leastsquares.Power(ridgeMemory, rows)*before.error[j]))
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

// Variance returns the variance of the label around its prediction for each scaled
// row of x and each target, by the member that counts most for it: rows × targets,
// or nil where the equations have no solution.
func (r *ridge) Variance(x []float32) []float64 {
	n, rows, targets := r.n(), len(x)/r.Dim, r.Head.Targets()
	phi, z := make([]float32, rows*(n-1)), make([]float64, n)
	r.bank.Features(phi, 0, x)
	out := make([]float64, rows*targets)
	factor, inverse := make([]float64, n*n), make([]float64, n*n)
	for e := range r.members {
		m, parameters := &r.members[e], 0.0
		for j, u := range r.Head.Scales {
			if r.best(j) != e {
				continue
			}
			if parameters == 0 { // the first target of the member
				if !m.Factorise(factor, r.penalty) {
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
			scatter := r.noise[j] / (1 + max(0, parameters)/max(1, m.Rows))
			scatter *= float64(u.Deviation * u.Deviation)
			for i := range rows {
				for l, v := range phi[i*(n-1) : (i+1)*(n-1)] {
					z[l] = float64(v) / r.norm()
				}
				z[n-1] = 1
				out[i*targets+j] = scatter * (1 + leastsquares.Leverage(factor, z))
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

var Algorithm = engine.Algorithm{
	Name: "ridge", Help: "exact least squares on at most 256 random features, at several rates of forgetting",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 32, BlockSize: 32, Loss: ridgeLoss, FixedBlocks: ridgeBlocks,
}

// ridgeLoss has least squares for the square loss and for one-vs-rest, and for
// nothing else.
func ridgeLoss(chosen loss.Loss, task target.Task) (loss.Loss, error) {
	switch {
	case chosen == nil && task == target.Classification:
		return loss.OneVsRest{}, nil
	case chosen == nil || chosen == loss.Square{} || chosen == loss.OneVsRest{}:
		return chosen, nil
	}
	return nil, fmt.Errorf("ridge minimises square or one-vs-rest, and the loss is %s", chosen)
}
