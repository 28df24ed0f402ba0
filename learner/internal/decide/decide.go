// Package decide chooses the predicted class from the probabilities: either by a learned threshold
// for the rarer of two classes, or by the least expected cost.
package decide

import (
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Rule chooses a class. The zero value chooses the most probable class. A Rule with a threshold
// chooses class 1 of two classes if its odds are in a certain bucket or above. A Rule with costs
// chooses the class with the least expected cost, once Of has supplied the names of the classes.
type Rule struct {
	bucket int
	costs  *Costs
	priced *priced
}

// ByCosts returns the Rule for costs.
func ByCosts(c *Costs) Rule { return Rule{costs: c} }

// Of returns the Rule for classes with these names.
func (r Rule) Of(classes []string) Rule {
	if r.costs != nil {
		r.priced = r.costs.of(classes)
	}
	return r
}

// Named reports whether the Rule depends on the names of the classes. If so, only a Rule that Of
// has returned decides by the costs.
func (r Rule) Named() bool { return r.costs != nil }

// Is reports whether r and o have the same costs. A nil o stands for no costs.
func (r Rule) Is(o *Rule) bool {
	if o == nil || r.costs == nil {
		return o == nil && r.costs == nil
	}
	return r.costs.text == o.costs.text
}

// Class returns the class that r chooses for the probabilities p.
func (r Rule) Class(p []float64) int {
	if r.priced != nil && len(p) > 0 {
		return r.priced.class(p)
	}
	if r.bucket == 0 || len(p) != 2 {
		return target.Best(p)
	}
	if ranking.Bucket(p[1]/p[0]) >= r.bucket {
		return 1
	}
	return 0
}

// Save adds the Rule to the serving part of a State.
func (r Rule) Save(a *state.Arrays) {
	if r.costs != nil {
		state.Put(a, "costs", len(r.costs.text), []byte(r.costs.text))
		return
	}
	state.Put(a, "decision", 1, []int64{int64(r.bucket)})
}

// LoadRule reads what Save wrote. It returns nil if the next array is not one that Save writes.
func LoadRule(s *state.Reader) *Rule {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "decision" && s.In[0].Name != "costs" {
		return nil
	}
	if s.In[0].Name == "costs" {
		c, err := ParseCosts(state.TakeString(s, "costs"))
		if err != nil {
			s.Fail("%v", err)
			return nil
		}
		return &Rule{costs: c}
	}
	at := state.Take[int64](s, "decision", 1, 1)
	if s.Err != nil {
		return nil
	}
	s.Require(at[0] >= 0 && at[0] < ranking.Buckets, "decision: bucket %d is out of range", at[0])
	return &Rule{bucket: int(at[0])}
}

const (
	// window is the number of labelled rows over which the weight of a row falls to 1/e.
	// Chosen by trial (docs/imbalance.md).
	window = 12000

	// least is the weight of the rows that each class needs before F1 learns a threshold. While the
	// rarer class has less than few, a Rule may find at most as many rows as the class has. Without
	// this limit, a model that knows little soon finds too many rows, because its threshold is too
	// low. Chosen by trial (docs/imbalance.md).
	least = 10
	few   = 40

	forgotten = 1e-12
)

// F1 learns the Rule that maximises the F1 score of the rarer class over recent predictions,
// weighted by age. The predictions must be those made before their rows were learned.
type F1 struct {
	Rule   Rule
	counts [2][]float64 // of each class: weight of its rows, by bucket of the odds of class 1
}

// NewF1 returns an F1 without rows.
func NewF1() *F1 {
	return &F1{counts: [2][]float64{make([]float64, ranking.Buckets), make([]float64, ranking.Buckets)}}
}

// Add adds a row: the probabilities of its classes, its class and its weight. It ignores rows
// unless there are two classes.
func (f *F1) Add(p []float64, class int, weight float64) {
	if len(p) == 2 && class < 2 {
		f.counts[class][ranking.Bucket(p[1]/p[0])] += weight
	}
}

// Step sets Rule from the rows so far, and then ages these rows by that many rows.
func (f *F1) Step(rows int) {
	f.Rule = f.smoothed()
	keep := 1 - min(1, float64(rows)/window)
	for _, c := range f.counts {
		for i := range c {
			if c[i] *= keep; c[i] < forgotten {
				c[i] = 0 // rather than subnormal
			}
		}
	}
}

// best returns the best Rule for the counts: class 1 from a bucket upwards, or class 0 below it. It
// also returns the rarer class, its weight, and the F1 score of the Rule.
func (f *F1) best() (r Rule, rare int, weight, most float64) {
	var sums [2]float64
	for class, c := range f.counts {
		for _, n := range c {
			sums[class] += n
		}
	}
	if min(sums[0], sums[1]) < least {
		return Rule{}, 0, 0, 0
	}
	rare = 1
	if sums[0] < sums[1] {
		rare = 0
	}
	hits, misses := 0.0, 0.0
	for i := range ranking.Buckets - 1 {
		b, next := ranking.Buckets-1-i, ranking.Buckets-1-i
		if rare == 0 {
			b, next = i, i+1
		}
		if f.counts[0][b]+f.counts[1][b] == 0 {
			continue
		}
		hits, misses = hits+f.counts[rare][b], misses+f.counts[1-rare][b]
		if sums[rare] < few && hits+misses > sums[rare] {
			break
		}
		if score := ranking.F1(hits, misses, sums[rare]-hits); score > most {
			r, most = Rule{bucket: next}, score
		}
	}
	return r, rare, sums[rare], most
}

// Save adds the counts to the resuming part of a State.
func (f *F1) Save(a *state.Arrays) {
	state.Put(a, "decision.counts", ranking.Buckets, append(append(make([]float64, 0, 2*ranking.Buckets), f.counts[0]...), f.counts[1]...))
}

// Load reads what Save wrote.
func (f *F1) Load(s *state.Reader, r Rule) {
	counts := state.Take[float64](s, "decision.counts", 2, ranking.Buckets)
	if s.Err != nil {
		return
	}
	for i, n := range counts {
		s.Require(n >= 0, "decision.counts: a weight is %v", n)
		f.counts[i/ranking.Buckets][i%ranking.Buckets] = n
	}
	f.Rule = r
}
