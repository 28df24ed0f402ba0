package learner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/serving"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/validation"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// State is everything that determines later predictions and states of a Learner. It shares no
// memory with it.
//
// It is the representation of the model and not only its function: with a scale factor multiplied
// into the coefficients, later steps would round differently. The names and the order of the arrays
// are part of the snapshot format.
type State struct {
	Serving  []Array // what predictions need: NewModel reads these alone
	Resuming []Array // what learning needs besides
}

// Array is one named part of a State: numbers in row-major order. It has a Name,
// lower case, at most 24 bytes and unique in its State, a Shape of rows and
// columns, and Data, which is a []float64, []float32, []int64 or []byte of
// Shape[0]*Shape[1] values.
type Array = state.Array

// Pending returns the number of labelled rows that wait for their mini-batch to be full, and
// that the model has not learned yet.
func (l *Learner) Pending() int { return len(l.pending.Labels) }

// Pending returns what Pending of the Learner with the State s does. After Finish it is 0.
func (s State) Pending() int {
	if s.finished() {
		return 0
	}
	for _, a := range s.Resuming {
		if a.Name == "pending.weights" {
			return a.Shape[0]
		}
	}
	return 0
}

// State returns a copy of the state of the Learner, without a PredictedBatch that has not been
// learned. The names and the order of its arrays are part of the snapshot format.
func (l *Learner) State() State {
	s := State{Serving: l.Serving()}
	top, lambda := 0.0, 0.0
	if l.fit != nil {
		top, lambda = l.fit.TopEigenvalue, l.fit.Lambda
	}
	a := (*state.Arrays)(&s.Resuming)
	state.Put(a, "counters", counterFields, []int64{l.labelled, int64(l.last.Class)})
	state.Put(a, "totals", totalFields, []float64{l.total, l.means[0], l.last.Value, top, lambda, l.linear.Rows, l.linear.Solved})
	if n := l.head.Targets(); n > 1 {
		more := slices.Clone(l.means[1:])
		state.Put(a, "totals.more", n-1, append(more, append(l.last.More, make([]float64, n-1-len(l.last.More))...)...))
	}
	state.Put(a, "classes", 1, l.weights)
	l.weighing.Save(a)
	state.Put(a, "pending.x", l.width(), l.pending.X)
	target.PutLabels(a, "pending", l.pending.Labels, l.head.Targets(), l.pending.Weights)
	state.Put(a, "warmup.x", l.dim, l.warmup.X)
	target.PutLabels(a, "warmup", l.warmup.Labels, l.head.Targets(), l.warmup.Weights)
	l.saveColumns(a)
	l.linear.Save(a, l.width())
	validation.Save(a, l.validation)
	l.drift.Save(a)
	l.lags.Save(a)
	l.rules.Save(a)
	if l.inputs != nil {
		l.inputs.Save(a)
	}
	if l.mixture != nil {
		l.mixture.Save(a)
	}
	if l.posterior != nil {
		l.posterior.Save(a)
	}
	l.rules.SaveOwn(a)
	if l.fit != nil {
		l.engine.Save(a)
	}
	return s
}

// Serving returns the part of the State that it takes to predict.
func (l *Learner) Serving() []Array {
	c := l.config
	v := serving.Part{
		BlockSize: c.BlockSize, Seed: c.Seed, Sampling: c.sampling(), Lags: c.Lags, Targets: c.Targets,
		Head: l.head, Dim: l.dim, Fit: l.fit, Metric: c.Metric, Served: engine.Served{Intercept: l.priorIntercept},
	}
	if l.fit != nil {
		v.Served = l.engine.Serving()
	}
	v.Decision, v.Intervals = l.rules.Served()
	if l.posterior != nil {
		v.Posterior = &l.posterior.Factor
	}
	if c.Mixture {
		v.Mixture = &mixture.Static{}
		if l.mixture != nil {
			v.Mixture = &l.mixture.Static
		}
	}
	v.Windows = l.windows
	var a state.Arrays
	v.Save(&a)
	return a
}

// ServedFeatures returns the number of random features of the model with these serving
// arrays.
func ServedFeatures(arrays []Array) (int, error) {
	s := &state.Reader{In: arrays}
	v := serving.Load(s)
	return v.Blocks * v.BlockSize, s.End()
}

// ServedColumns returns what Learner.Columns does, from the serving part of a State.
// fitted is false before the first fit.
func ServedColumns(arrays []Array) (columns []Column, fitted bool, err error) {
	s := &state.Reader{In: arrays}
	v := serving.Load(s)
	if err := s.End(); err != nil {
		return nil, false, err
	}
	if v.Fit == nil {
		return nil, false, nil
	}
	if v.Fit.Encoding != nil {
		columns = v.Fit.Encoding.Columns()
	}
	return columns, true, nil
}

// SavedInputs returns what the monitor of the inputs had found by a State, from its
// resuming part, and nil if the Learner had none.
func SavedInputs(resuming []Array) (*Inputs, error) { return divergence.Saved(resuming) }

// MixtureShare returns the share of the algorithm in the mixture that a model with these
// serving arrays predicts with, the mean over its scores. It returns false if there is no
// mixture.
func MixtureShare(serving []Array) (share float64, ok bool) {
	for _, a := range serving {
		of, is := a.Data.([]float64)
		switch {
		case is && a.Name == "mixture.engine":
			if ok = true; len(of) == 0 {
				return 1, true
			}
			for _, v := range of {
				share += v / float64(len(of))
			}
		case is && a.Name == "mixture.factor" && len(of) == 1: // which the others contain
			share /= of[0]
		}
	}
	return share, ok
}

// openPrefix begins the names of the arrays with the serving part before Finish.
const openPrefix = "open."

// Finish learns the labelled rows that wait for their mini-batch to be full, as a smaller
// mini-batch. Within the warm-up, it first lets a fit take effect: the one in progress or, if there
// has been none, one of the rows so far, if there are enough.
//
// The serving part of the State that it returns is the model of all rows. Restoring this State
// returns the Learner as it was before Finish, because which rows are learned together depends on
// their order alone, and not on where a file ends. After Finish the Learner must not learn, and no
// other State of it can be restored.
func (l *Learner) Finish() State {
	s := l.State()
	if l.finished || !l.finish() {
		return s
	}
	return State{Serving: l.Serving(), Resuming: slices.Concat(opened(s.Serving), s.Resuming)}
}

// finish reports whether the model has changed.
func (l *Learner) finish() (changed bool) {
	l.finished = true
	if n := len(l.warmup.Labels); l.fitsAtEnd(n) {
		if l.warmup.Result != nil {
			<-l.warmup.Result // of fewer rows
		}
		l.warmup.Start(n, l.dim, l.fitRequest(), l.fitter)
	}
	if l.warmup.Result != nil {
		l.adopt(<-l.warmup.Result)
		changed = true
	}
	if n := len(l.warmup.Labels); l.fit == nil && l.mixture != nil && l.early != nil {
		l.setEarly(n)
		l.mixture.StartEarly(&l.head, l.early, l.warmup.Scaled(l.early, l.dim), l.warmup.Labels, l.warmup.Weights)
		changed = true
	}
	if n := len(l.pending.Labels); n > 0 {
		l.learnEncoding()
		l.pending.Part = float64(n) / float64(l.minibatchAt(l.labelled))
		l.fitPending()
		l.rules.StepDecisions(n)
		l.rules.StepIntervals()
		changed = true
	}
	if e, ok := l.engine.(engine.Settler); ok && e.Settle() {
		changed = true
	}
	if l.mixture != nil && l.mixture.Finish(&l.head) {
		changed = true
	}
	return changed
}

// Where rows end within the warm-up, there is a fit of all of them if there are at least leastAtEnd,
// and endGrowth times as many as the latest fit had. Chosen by trial: docs/forest.md.
const leastAtEnd, endGrowth = 128, 1.5

// fitsAtEnd reports whether there is a fit of all n rows of the warm-up where they end: if there has
// been none yet and, from the version Twentieth on, if the latest one is of far fewer rows.
func (l *Learner) fitsAtEnd(n int) bool {
	switch {
	case n < warmup.Checkpoints[0] || !l.warmup.Fits(n, l.head.Task):
		return false
	case l.fit == nil && l.warmup.Result == nil:
		return true
	case n < leastAtEnd || warmup.Version(l.config.Warmup) < warmup.Twentieth:
		return false
	}
	latest := 0
	for _, r := range l.checkpoints() {
		if warmup.EffectiveAt(r) <= n || l.warmup.Result != nil && r <= n {
			latest = r
		}
	}
	return float64(n) >= float64(endGrowth*float64(latest))
}

// opened returns the arrays of a serving part, renamed so that they can be stored in a resuming
// part.
func opened(serving []Array) []Array {
	var names []string
	var a state.Arrays
	for i, of := range serving {
		names = append(names, of.Name)
		of.Name = fmt.Sprint(openPrefix, i)
		a = append(a, of)
	}
	list := []byte(strings.Join(names, "\n"))
	var all state.Arrays
	state.Own(&all, openPrefix+"names", 1, list)
	return slices.Concat(all, a)
}

// open returns s as it was before Finish.
func (s State) open() (State, error) {
	if !s.finished() {
		return s, nil
	}
	list, ok := s.Resuming[0].Data.([]byte)
	names := strings.Split(string(list), "\n")
	if !ok || len(names) >= len(s.Resuming) {
		return State{}, fmt.Errorf("%snames: want the names of the arrays after it", openPrefix)
	}
	rest := s.Resuming[1+len(names):]
	before := State{Serving: slices.Clone(s.Resuming[1 : 1+len(names)]), Resuming: rest}
	for i := range before.Serving {
		if want := fmt.Sprint(openPrefix, i); before.Serving[i].Name != want {
			return State{}, fmt.Errorf("array %q, want %q", before.Serving[i].Name, want)
		}
		before.Serving[i].Name = names[i]
	}
	return before, nil
}

// finished reports whether s was returned by Finish.
func (s State) finished() bool {
	return len(s.Resuming) > 0 && s.Resuming[0].Name == openPrefix+"names"
}
