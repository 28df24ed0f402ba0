package member

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// transitionsForget is the factor of the counts so far, for each row.
const transitionsForget = 0.999

// transitions predicts a class from the last one of the key: a Markov chain of the first
// order, from counts that are forgotten.
type transitions struct {
	head   target.Head
	counts []float64 // classes × classes: of the last class and then the next

	after, next []float64 // sums of counts: after each class, and of each
	total       float64
}

var transitionsKind = Kind{
	Name: "transitions", Help: "share of each class after the last one of the key", Labels: true,
	Suits: func(t target.Task) bool { return t == target.Classification },
	New: func(h target.Head) Member {
		t := &transitions{head: h, counts: make([]float64, h.Classes*h.Classes)}
		t.add()
		return t
	},
}

func (t *transitions) Start(target.Head, []float64) bool { return false }

// Score adds one row, divided among the classes in proportion to all counts, to the counts after
// the last class.
func (t *transitions) Score(f []float64, r *Row) bool {
	k := t.head.Classes
	if r.Last.Task == target.Auto || k < 2 || r.Last.Class >= k {
		return false
	}
	b := r.Last.Class
	probability := func(c int) float64 {
		share := (t.next[c] + 1/float64(k)) / (t.total + 1)
		return (t.counts[b*k+c] + share) / (t.after[b] + 1)
	}
	if len(f) == 1 {
		f[0] = vec.Log(probability(1)) - vec.Log(probability(0))
		return true
	}
	for c := range f {
		f[c] = probability(c)
	}
	vec.Logs(f, f)
	return true
}

// add computes the sums of the counts.
func (t *transitions) add() {
	k := t.head.Classes
	t.after, t.next, t.total = make([]float64, k), make([]float64, k), 0
	for i, n := range t.counts {
		t.after[i/k] += n
		t.next[i%k] += n
		t.total += n
	}
}

func (t *transitions) Learn(c *Chunk) {
	factor := leastsquares.Power(transitionsForget, len(c.Labels))
	for i := range t.counts {
		t.counts[i] *= factor
	}
	for i, y := range c.Labels {
		if c.Last[i].Task != target.Auto {
			t.counts[c.Last[i].Class*t.head.Classes+y.Class] += c.Weights[i]
		}
	}
	t.add()
}

func (t *transitions) Widen(h target.Head, _ float64) {
	k, n := t.head.Classes, h.Classes
	counts := make([]float64, n*n)
	for b := range k {
		copy(counts[b*n:], t.counts[b*k:(b+1)*k])
	}
	t.head, t.counts = h, counts
	t.add()
}

func (t *transitions) Save(a *state.Arrays, prefix string) {
	state.Put(a, prefix+".counts", t.head.Classes, t.counts)
}

func (t *transitions) Load(s *state.Reader, prefix string) {
	counts := state.Take[float64](s, prefix+".counts", t.head.Classes, t.head.Classes)
	for _, n := range counts {
		s.Require(n >= 0 && n < math.MaxFloat64, "%s: a count is %v", prefix, n)
	}
	if s.Err == nil {
		t.counts = counts
		t.add()
	}
}

// lastValue predicts the last numbers of the key.
type lastValue struct{}

var lastValueKind = Kind{
	Name: "last value", Help: "last label of the key", Labels: true,
	Suits: func(t target.Task) bool { return t == target.Regression },
	New:   func(target.Head) Member { return lastValue{} },
}

func (lastValue) Start(target.Head, []float64) bool { return false }

func (lastValue) Score(f []float64, r *Row) bool {
	if r.Last.Task == target.Auto {
		return false
	}
	for j, u := range r.Head.Scales {
		f[j] = (target.Bounded(r.Last.At(j)) - u.Mean) / u.Deviation
	}
	return true
}

func (lastValue) Learn(*Chunk)               {}
func (lastValue) Widen(target.Head, float64) {}
func (lastValue) Save(*state.Arrays, string) {}
func (lastValue) Load(*state.Reader, string) {}
