package learner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// openPrefix begins the names of the arrays with the serving part before Finish.
const openPrefix = "open."

// Finish learns the labelled rows that wait for their mini-batch to be full, as a smaller
// one, and before them, within the warm-up, has the fit in progress take effect. It returns
// a State whose serving part is that of all rows. Restore of it returns the Learner as it was
// before Finish: which rows are learned together depends on their order alone, and not on
// where a file ends. The Learner must not learn afterwards,
// and no other State of it can be restored.
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
	if n := len(l.warmup.Labels); l.warmup.Result != nil {
		l.adopt(<-l.warmup.Result)
		changed = true
	} else if l.fit == nil && n >= warmup.Checkpoints[0] && l.warmup.Fits(n, l.head.Task, false) {
		l.warmup.Start(n, l.dim, l.fitRequest(), l.fitter)
		l.adopt(<-l.warmup.Result)
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
	if l.mixture != nil && l.mixture.Finish(&l.head) {
		changed = true
	}
	return changed
}

// opened returns the arrays of a serving part as those of a resuming one.
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

// finished reports whether s is of Finish.
func (s State) finished() bool {
	return len(s.Resuming) > 0 && s.Resuming[0].Name == openPrefix+"names"
}
