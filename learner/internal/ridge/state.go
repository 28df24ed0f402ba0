package ridge

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Save writes r. The names of its arrays are part of the snapshot format.
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
	s.Require(r.steps >= 0 && r.steps <= steps, "%d steps, want at most %d", r.steps, steps)
	s.Require(slices.Min(figures) >= 0, "ridge: an error, share or noise estimate is %v", slices.Min(figures))
	next := func(to []float64) { figures = figures[copy(to, figures):] }
	next(r.noise)
	for e := range r.members {
		m, name := &r.members[e], fmt.Sprintf("ridge.%d", e)
		next(m.solved)
		next(m.error)
		next(m.share)
		s.Require(slices.Max(m.share) <= 1, "ridge: member %d has mixture weights %v", e, m.share)
		m.Equations.Load(s, name)
		m.w = state.Take[float64](s, name+".w", m.Targets, m.N)
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
			m.error[j] = max(0, m.error[j]+other.error[j]-float64(leastsquares.Power(lossDecay, rows)*before.error[j]))
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
