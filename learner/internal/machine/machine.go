// Package machine has the members of a mixture that are kernel machines of their own: with
// fewer random features and fewer rows than the algorithm, they follow a stream faster.
package machine

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/drift"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/newton"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// Features is the number of random features of a Machine, and blockSize that of a block, unless
	// the model itself has fewer.
	Features, blockSize = 1024, 64

	// AllFeatures is the number of random features of all machines together, and FeatureBytes the
	// mean memory for each of them in addition to the State.
	AllFeatures  = 2 * Features
	FeatureBytes = (newton.ShortFactorBytes + newton.ResettingFactorBytes) / 2
)

// Machine is an engine as a member of a mixture.
type Machine struct {
	problem func() engine.Problem
	plan    func(engine.Problem) newton.Machine // the algorithm
	name    string                              // prefix of the arrays
	resets  bool                                // starts again at its own alarms

	head    target.Head
	engine  newton.Machine // nil before the first fit
	adwin   drift.ADWIN
	hinkley drift.PageHinkley

	ahead  []float64 // rows × scores of the pass under way
	scored []float32 // rows of that pass, as long as batch has their current scores
	thin   int
	batch  engine.Minibatch
	p      []float64
}

// Short is the kind of a member that is newton on the last 512 rows. problem returns what the
// engine of the model would be created with; its Fit is nil before the first fit.
func Short(problem func() engine.Problem) member.Kind {
	return member.Kind{
		Name: "short", Help: "newton on the last 512 rows",
		Suits: func(target.Task) bool { return true },
		New: func(h target.Head) member.Member {
			return &Machine{problem: problem, plan: newton.NewShort, name: "short", head: h}
		},
	}
}

// Resetting is the kind of a member that is newton on the rows since its own last alarm, at most
// 4,096. problem is as in Short.
func Resetting(problem func() engine.Problem) member.Kind {
	return member.Kind{
		Name: "reset", Help: "newton on the rows since its errors last grew",
		Suits: func(target.Task) bool { return true },
		New: func(h target.Head) member.Member {
			return &Machine{problem: problem, plan: newton.NewResetting, name: "reset", resets: true, head: h}
		},
	}
}

// limited returns p with the random features of a Machine.
func limited(p engine.Problem) engine.Problem {
	o := &p.Options
	o.BlockSize = min(o.BlockSize, blockSize)
	o.MaxFeatures = min(o.MaxFeatures, Features)
	o.Minibatch, o.Forest, o.ForestLasting = 32, 0, false
	p.Team = nil // the other engine's
	return p
}

// Bank returns the random features of all machines of a model, without blocks.
func Bank(p engine.Problem) *features.Bank {
	p = limited(p)
	return p.Bank()
}

// BlockSize returns the block size of the machines of a model with the given block size.
func BlockSize(of int) int { return min(of, blockSize) }

// Start begins again, once there is a fit. With engine.Options.Plain it waits for the last fit:
// until then, m would learn from the same rows as the algorithm of the model.
func (m *Machine) Start(h target.Head, _ []float64) bool {
	m.head, m.engine, m.scored = h, nil, m.scored[:0]
	p := limited(m.problem())
	if o := p.Options; p.Fit == nil || o.Plain && o.Warming {
		return false
	}
	p.Head = h
	m.engine = m.plan(p)
	m.adwin, m.hinkley = drift.ADWIN{}, drift.PageHinkley{}
	return true
}

// Ready reports whether m has random features.
func (m *Machine) Ready() bool { return m.engine != nil && m.engine.Features() > 0 }

// Intercept returns that of score c of a Machine that is Ready.
func (m *Machine) Intercept(c int) float64 { return m.engine.ServedIntercept(c) }

// AddServed adds the coefficients of a Machine that is Ready, see member.Machine.
func (m *Machine) AddServed(sum, shares []float64) []float64 { return m.engine.AddServed(sum, shares) }

// Ahead computes the scores of the rows of a pass, which are within the range of those learned.
func (m *Machine) Ahead(x []float32, n int) {
	m.ahead, m.scored = m.ahead[:0], m.scored[:0]
	if m.Ready() {
		m.ahead = m.served(m.ahead, m.engine.Score(m.batch.Scores[:0], x, n), n)
		m.scored = append(m.scored, x...)
	}
}

// served appends the scores that predict, out of those of all candidates.
func (m *Machine) served(dst, scores []float64, n int) []float64 {
	m.batch.Scores = scores
	k, columns, at := m.head.Scores(), m.engine.Columns(), m.engine.Served()
	for i := range n {
		dst = append(dst, scores[i*columns+at:i*columns+at+k]...)
	}
	return dst
}

// Score sets f to the scores of a row of the pass of Ahead.
func (m *Machine) Score(f []float64, r *member.Row) bool {
	k := len(f)
	if (r.At+1)*k > len(m.ahead) {
		return false
	}
	copy(f, m.ahead[r.At*k:])
	for c, v := range r.Beyond {
		f[c] += v
	}
	return true
}

// Thin sets the divisor of the number of steps.
func (m *Machine) Thin(by int) { m.thin = by }

// Learn learns a mini-batch. In most cases it consists of the rows of a pass, whose scores Ahead
// has computed.
func (m *Machine) Learn(c *member.Chunk) {
	if m.engine == nil {
		return
	}
	n := len(c.Labels)
	b := &m.batch
	if len(m.scored) == 0 || !slices.Equal(m.scored, c.X) {
		b.Scores = m.engine.Score(b.Scores[:0], c.X, n)
	}
	if m.resets && m.alarmed(c) {
		m.Start(m.head, nil)
		b.Scores = m.engine.Score(b.Scores[:0], c.X, n)
	}
	b.X, b.Labels, b.Weights, b.Again, b.More = c.X, c.Labels, c.Weights, c.Again, c.More
	m.engine.Thin(m.thin)
	m.engine.Learn(b)
	m.ahead, m.scored = m.ahead[:0], m.scored[:0]
}

// alarmed reports whether the loss has grown with the rows of c.
func (m *Machine) alarmed(c *member.Chunk) (alarm bool) {
	size, n := m.head.PredictionSize(), len(c.Labels)
	m.p = state.Extend(m.p[:0], size)
	f, k := m.served(m.ahead[:0], m.batch.Scores, n), m.head.Scores()
	for i, y := range c.Labels {
		m.head.Predict(m.p, f[i*k:(i+1)*k])
		e := m.head.BoundedError(m.p, y)
		grown := m.adwin.Add(e)
		alarm = m.hinkley.Add(e) || grown || alarm
	}
	return alarm
}

// Widen adds a class.
func (m *Machine) Widen(h target.Head, total float64) {
	m.head = h
	m.ahead, m.scored = m.ahead[:0], m.scored[:0]
	if m.engine != nil {
		m.engine.Widen(h, m.problem().Prior, total)
	}
}
