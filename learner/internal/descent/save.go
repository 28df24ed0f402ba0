package descent

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// scalarFields are the columns of the array "descent.scalars".
const (
	scalarShrink = iota
	scalarQ
	scalarP
	scalarFields
)

// counterFields are the columns of the array "descent.counters".
const (
	fieldSteps = iota
	fieldAveraged
	fieldChoice
	fieldSince
	counterFields
)

// Save writes d. The names of its arrays are part of the snapshot format.
func (d *Engine) Save(a *state.Arrays) {
	averaged := int64(0)
	if d.averaged {
		averaged = 1
	}
	k := d.Head.Scores()
	state.Put(a, "descent.counters", counterFields, []int64{d.Coef.Steps, averaged, int64(d.choice.at), d.Coef.since})
	state.Put(a, "descent.scalars", scalarFields, []float64{d.Coef.shrink, d.Coef.q, d.Coef.p})
	state.Put(a, "intercepts", k, d.intercept)
	state.Put(a, "u", k, d.Coef.u)
	state.Put(a, "v", k, d.Coef.v)
	state.Put(a, "traces", k, d.traces)
	state.Put(a, "choice", 1, d.choice.excess[:])
	d.direction.Save(a)
}

func (d *Engine) Load(s *state.Reader, v engine.Served, steps int64) {
	counters := state.Take[int64](s, "descent.counters", 1, counterFields)
	scalars := state.Take[float64](s, "descent.scalars", 1, scalarFields)
	if s.Err != nil {
		return
	}
	k, rows := d.Head.Scores(), 2*d.Options.BlockSize*v.Blocks
	d.averaged, d.choice.at = counters[fieldAveraged] == 1, int(counters[fieldChoice])
	d.intercept = state.Take[float64](s, "intercepts", 2, k)
	d.Coef = coefficients{
		scores: k, Steps: counters[fieldSteps], since: counters[fieldSince],
		shrink: scalars[scalarShrink], q: scalars[scalarQ], p: scalars[scalarP],
		u: state.Take[float64](s, "u", rows, k), v: state.Take[float64](s, "v", rows, k),
	}
	traces := 0
	if _, ok := d.rule.(Tracer); ok {
		traces = v.Blocks
	}
	d.traces = state.Take[float64](s, "traces", traces, k)
	copy(d.choice.excess[:], state.Take[float64](s, "choice", ChoiceRows, 1))
	d.direction.Load(s, rows, k)
	c := &d.Coef
	s.Require(counters[fieldAveraged]>>1 == 0, "averaged is %d", counters[fieldAveraged])
	s.Require(d.choice.at >= 0 && d.choice.at < ChoiceRows, "the comparison is at row %d", d.choice.at)
	s.Require(c.since >= 0 && c.since <= c.Steps, "the average starts at step %d of %d", c.since, c.Steps)
	s.Require(c.Steps >= 0 && c.Steps <= steps && (c.Steps == 0) == (v.Blocks == 0), "%d steps, want at most %d; %d blocks", c.Steps, steps, v.Blocks)
	s.Require(c.shrink > 0 && c.shrink <= 1 && c.q > 0 && c.q <= 1 && c.p >= 0, "invalid scalars %v, %v, %v", c.shrink, c.q, c.p)
	if s.Err != nil {
		return
	}
	d.Bank.Grow(v.Blocks)
	d.candidateCoef = make([]float32, 2*len(c.u))
	c.serve(d.candidateCoef)
	v.Check(s, d)
}

// Rewind sets the number of steps, and forgets which of the iterate and its average
// was better.
func (d *Engine) Rewind(steps int64) { d.Coef.Steps, d.choice, d.averaged = steps, choice{}, false }
