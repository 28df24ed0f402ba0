package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// stream calls row for n rows of which a share is of class rare, with the probabilities of
// a model that has learned them only in part.
func stream(seed uint64, n int, share float64, rare int, row func(p []float64, class int)) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		class, z := 1-rare, r.NormFloat64()-4.5
		if r.Float64() < share {
			class, z = rare, z+2.5
		}
		p := 1 / (1 + math.Exp(-z))
		if rare == 1 {
			row([]float64{1 - p, p}, class)
		} else {
			row([]float64{p, 1 - p}, class)
		}
	}
}

// The rule found on the stream, each row decided before it counts, is nearly as good as
// the best threshold in hindsight; the most probable class is not.
func TestLearnedRuleIsNearlyTheBest(t *testing.T) {
	for seed := range uint64(6) {
		rare, f, n := int(seed%2), NewF1(), 0
		learned, naive := ranking.New(true), ranking.New(true)
		stream(seed, 30000, 0.02, rare, func(p []float64, class int) {
			learned.Add(p, f.Rule.Class(p), class, 1)
			naive.Add(p, Rule{}.Class(p), class, 1)
			f.Add(p, class, 1)
			if n++; n%32 == 0 {
				f.Step(32)
			}
		})
		got := learned.Figures(0.9)
		if got.BestF1-got.F1 > 0.03 || got.BestF1-naive.Figures(0.9).F1 < 0.1 {
			t.Errorf("seed %d: F1 is %v, without a rule %v, at best %v", seed, got.F1, naive.Figures(0.9).F1, got.BestF1)
		}
	}
}

// best agrees with trying every rule on every row.
func TestRuleIsTheBestOfAll(t *testing.T) {
	for seed := range uint64(4) {
		rare, f := int(seed%2), NewF1()
		var ps [][]float64
		var classes []int
		stream(seed, 400, 0.2, rare, func(p []float64, class int) {
			ps, classes = append(ps, p), append(classes, class)
			f.Add(p, class, 1)
		})
		score := func(r Rule) float64 {
			hits, misses, lost := 0.0, 0.0, 0.0
			for i, p := range ps {
				switch found := r.Class(p) == rare; {
				case found && classes[i] == rare:
					hits++
				case found:
					misses++
				case classes[i] == rare:
					lost++
				}
			}
			return ranking.F1(hits, misses, lost)
		}
		best, _, _, _ := f.best()
		most := 0.0
		for b := 1; b < ranking.Buckets; b++ {
			most = max(most, score(Rule{bucket: b}))
		}
		if got := score(best); got != most || got == 0 {
			t.Errorf("seed %d: F1 is %v, want %v", seed, got, most)
		}
	}
}

// Without enough rows of both classes, and for other numbers of classes, the most probable
// class is decided for.
func TestNoRuleWithoutEvidence(t *testing.T) {
	f := NewF1()
	for i := range 1000 {
		f.Add([]float64{0.9, 0.1}, i/(1001-least), 1)
	}
	f.Add([]float64{1}, 0, 100)
	f.Add([]float64{0.3, 0.3, 0.4}, 1, 100)
	f.Add([]float64{0.5, 0.5}, 2, 100)
	f.Step(1)
	if f.Rule != (Rule{}) {
		t.Errorf("%v after %d rows of class 1", f.Rule, least-1)
	}
	if r := (Rule{bucket: 1}); r.Class([]float64{0.5, 0.2, 0.3}) != 0 || r.Class([]float64{1}) != 0 || r.Class([]float64{0.9, 0.1}) != 1 {
		t.Error("the rule is not one of two classes")
	}
}

// With few rows of the class, no more rows are predicted to be of it than are.
func TestFewRowsDoNotFindMany(t *testing.T) {
	found := func(n int) (predicted int) {
		f := NewF1()
		for i := range 1000 { // the model knows nothing
			f.Add([]float64{0.98, 0.02 + float64(i)*1e-6}, min(1, n*(i+1)/1000-n*i/1000), 1)
		}
		f.Step(1)
		for i := range 1000 {
			predicted += f.Rule.Class([]float64{0.98, 0.02 + float64(i)*1e-6})
		}
		return predicted
	}
	if n := found(few - 1); n > few-1 {
		t.Errorf("%d of 1,000 rows are predicted, with %d of the class", n, few-1)
	}
	if n := found(few); n < 500 {
		t.Errorf("%d of 1,000 rows are predicted, with %d of the class", n, few)
	}
}

func TestRestoreGoesOnExactly(t *testing.T) {
	f := NewF1()
	stream(1, 3000, 0.1, 1, func(p []float64, class int) { f.Add(p, class, 1.5) })
	f.Step(32)
	var serving, resuming state.Arrays
	f.Rule.Save(&serving)
	f.Save(&resuming)
	s := &state.Reader{In: serving}
	r := LoadRule(s)
	if err := s.End(); err != nil || *r != f.Rule || *r == (Rule{}) {
		t.Fatalf("%v, %v, want %v", r, err, f.Rule)
	}
	g, s := NewF1(), &state.Reader{In: resuming}
	g.Load(s, *r)
	if err := s.End(); err != nil || !slices.Equal(g.counts[0], f.counts[0]) || !slices.Equal(g.counts[1], f.counts[1]) {
		t.Fatalf("%v", err)
	}
	f.Step(32)
	if g.Step(32); g.Rule != f.Rule {
		t.Errorf("%v, want %v", g.Rule, f.Rule)
	}
	for _, bucket := range []int64{-1, ranking.Buckets} {
		var bad state.Arrays
		state.Put(&bad, "decision", 1, []int64{bucket})
		s := &state.Reader{In: bad}
		if LoadRule(s); s.End() == nil {
			t.Errorf("bucket %d is accepted", bucket)
		}
	}
	counts := resuming[0].Data.([]float64)
	counts[5] = -1
	s = &state.Reader{In: resuming}
	if g.Load(s, *r); s.End() == nil {
		t.Error("a negative weight is accepted")
	}
}
