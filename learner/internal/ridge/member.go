package ridge

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// member is the solution with one rate of forgetting.
type member struct {
	forget float64 // factor of the weight of a row for each row after it
	leastsquares.Equations
	w []float64 // scores × n, as last solved for

	// For each target:
	solved []float64 // rows when it was last solved for
	error  []float64 // recent
	share  []float64 // in the mixture

	factor []float64 // scratch
}

// due reports whether m needs to be solved again for target j: if m forgets, or if its rows have
// grown by leastsquares.Growth. A member with a small share is solved less often.
func (r *ridge) due(m *member, j int) bool {
	grown := m.forget < 1 || m.Rows >= leastsquares.Growth*m.solved[j]
	return grown && (m.share[j] >= minorShare || r.steps%minorInterval == 0)
}

// solveFor solves for the targets that are due.
func (m *member) solveFor(penalty float64, due func(j int) bool) {
	k := m.Targets / len(m.share)
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

// learn makes m learn the rows whose products are in gram and moment.
func (r *ridge) learn(m *member, rows int, weight float64) {
	m.Equations.Forget(leastsquares.Power(m.forget, rows))
	m.Add(r.gram, r.moment, weight)
	m.solveFor(r.penalty, func(j int) bool { return r.due(m, j) })
}

// grade adds the errors of the members on the rows of p, which they have not learned yet, and
// computes the shares of the members in the mixture.
func (r *ridge) grade(p *engine.Minibatch) {
	k, columns, rows, targets := r.Head.Scores(), r.Columns(), len(p.Labels), r.Head.Targets()
	decay := leastsquares.Power(lossDecay, rows)
	limit := maxMargin
	if r.Head.Task == target.Regression {
		limit = maxGradedResidual
	}
	for at := range (1 + len(r.members)) * targets {
		e, j := at/targets-1, at%targets
		sum, total := 0.0, 0.0
		for i, weight := range p.Weights {
			f := r.Head.Part(p.Scores[i*columns+(1+e)*k:i*columns+(2+e)*k], j)
			for c, t := range r.Head.Part(r.targets[i*k:(i+1)*k], j) {
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

// share computes the shares of the members from their recent errors.
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
