package decide

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// The decision is the class with the least expected cost, computed from the whole matrix,
// and survives a snapshot.
func TestCostsDecideForTheLeastExpectedCost(t *testing.T) {
	classes := []string{"ok", "late", "lost"}
	for _, test := range []struct {
		text string
		cost [3][3]float64 // of the true class and the predicted one
	}{
		{`{"lost":50}`, [3][3]float64{{0, 1, 1}, {1, 0, 1}, {50, 50, 0}}},
		{`{"lost":{"ok":50},"ok":{"late":0.25}}`, [3][3]float64{{0, 0.25, 1}, {1, 0, 1}, {50, 1, 0}}},
		{`{"late":3,"gone":9,"lost":{"ok":7,"gone":2,"late":0}}`, [3][3]float64{{0, 1, 1}, {3, 0, 3}, {7, 0, 0}}},
	} {
		c, err := ParseCosts(test.text)
		if err != nil {
			t.Fatal(err)
		}
		var a state.Arrays
		ByCosts(c).Save(&a)
		s := &state.Reader{In: a}
		loaded := LoadRule(s)
		if err := s.End(); err != nil || !loaded.Is(&Rule{costs: c}) {
			t.Fatalf("%s: %v", test.text, err)
		}
		for i, costs := range test.cost {
			for j, want := range costs {
				if got := loaded.Of(classes).Cost(i, j); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: class %d predicted as %d costs %v, want %v", test.text, i, j, got, want)
				}
			}
		}
		rule, rng := loaded.Of(classes), rand.New(rand.NewPCG(1, 2))
		seen := [3]int{}
		for range 2000 {
			p := make([]float64, 3)
			sum := 0.0
			for i := range p {
				p[i] = rng.ExpFloat64() * []float64{1, 0.4, 0.1}[i]
				sum += p[i]
			}
			best, least := 0, math.Inf(1)
			for j := range p {
				p[j] /= sum
			}
			for j := range p {
				cost := 0.0
				for i := range p {
					cost += p[i] * test.cost[i][j]
				}
				if cost < least {
					best, least = j, cost
				}
			}
			if got := rule.Class(p); got != best {
				t.Fatalf("%s: class %d of %v, want %d", test.text, got, p, best)
			}
			seen[best]++
		}
		if max(seen[0], seen[1], seen[2]) > 1980 {
			t.Errorf("%s: decided %v times", test.text, seen)
		}
		if got := rule.Class([]float64{0.4, 0.6}); got > 1 {
			t.Errorf("two of three classes: %d", got)
		}
	}
}

func TestCostsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`f2`: "want none, f1 or", `{}`: "no class is named", `[1]`: "an object", `{"a":1} 2`: "after the object", `{"a":1`: "a JSON object",
		`{"a":-1}`: "want a number from 0", `{"a":1e10}`: "want a number from 0", `{"a":"x"}`: "want a number", `{"a":null}`: "want a number", `{"a":{"b":{"c":1}}}`: "want a number",
		`{"a":1,"a":2}`: "twice", `{"a":{"a":1}}`: "where it is right", `{"":1}`: "no name", `{"a":{"":1}}`: "no name", `{"a":{}}`: "no class is named",
	} {
		if _, err := ParseCosts(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func FuzzCosts(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":{"a":2}}`, `{"a":{"a":1}}`, `{"":{"":0}}`, `[`, `{"a":`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCosts(text)
		if err != nil {
			return
		}
		rule := ByCosts(c).Of(c.Names())
		p := make([]float64, len(c.Names()))
		for i := range p {
			p[i] = 1 / float64(len(p))
		}
		if k := rule.Class(p); k < 0 || k >= len(p) {
			t.Errorf("class %d of %d", k, len(p))
		}
	})
}
