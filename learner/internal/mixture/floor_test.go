package mixture

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// TestEngineKeepsAShareOfAScorer, and less of it the worse it is beside the best member that a
// scorer has; members that need labels, and the weights, do not matter.
func TestEngineKeepsAShareOfAScorer(t *testing.T) {
	h := target.NewHead(nil, target.Regression, 0, 1)
	m := New(h, Options{})
	if got := m.engineFloor(m.now, 0); got != 0 {
		t.Errorf("before the first fit the engine has %v at least, want 0", got)
	}
	m.factors = []float64{1}
	for _, test := range []struct{ engine, static, want float64 }{
		{1, 2, leastEngine},
		{1, 1, leastEngine},
		{worseEngine, 1, leastEngine},
		{10 * worseEngine, 1, leastEngine / 10},
		{1000 * worseEngine, 1, leastEngine / 1000},
	} {
		squares := m.now.squares[:m.experts]
		for e := range squares {
			squares[e] = 1e-9 // of members with labels
		}
		for _, e := range m.static {
			squares[e] = test.static
		}
		squares[0] = test.engine
		if got := m.engineFloor(m.now, 0); !near(got, test.want) {
			t.Errorf("squared errors of the engine of %v, of the other members of %v: it has %v at least, want %v", test.engine, test.static, got, test.want)
		}
	}
	classes := New(target.NewHead(nil, target.Classification, 2, 1), Options{})
	classes.factors = []float64{1}
	if got := classes.engineFloor(classes.now, 0); got != leastEngine {
		t.Errorf("of classes the engine has %v at least, want %v", got, leastEngine)
	}
}

// near reports whether two numbers differ by rounding alone.
func near(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

// TestStacksPredictWithinReach: however large their factors are.
func TestStacksPredictWithinReach(t *testing.T) {
	h := target.NewHead(nil, target.Regression, 0, 1)
	m := New(h, Options{})
	for i := range 2 * recentLabels {
		m.ahead.bounds[0].add(float64(i % 11))
	}
	copy(m.ahead.labels, []float64{512, 5, 5120}) // weight, mean, sum of squares about it
	m.resizeStacks(1, 1)
	m.inner = []float64{6}
	m.p, m.awake = make([]float64, m.experts), make([]bool, m.experts)
	lo, hi := m.ahead.bounds[0].reach()
	for _, factor := range []float64{1e6, -1e6} {
		for s := range m.ahead.stacks {
			for i := range m.ahead.stacks[s].theta {
				m.ahead.stacks[s].theta[i] = factor
			}
		}
		m.predictStacks(&h, 0)
		for s, p := range m.stackP {
			if p[0] != lo && p[0] != hi {
				t.Errorf("stack %d with factors of %v predicts %v, want an end of %v to %v", s, factor, p[0], lo, hi)
			}
		}
	}
}

// TestMembersPredictWithinReach: however far their scores are.
func TestMembersPredictWithinReach(t *testing.T) {
	h := target.NewHead(nil, target.Regression, 0, 1)
	m := New(h, Options{})
	for i := range 2 * recentLabels {
		m.ahead.bounds[0].add(float64(i % 11))
	}
	lo, hi := m.ahead.bounds[0].reach()
	for _, test := range []struct{ score, want float64 }{{-1e9, lo}, {1e9, hi}, {(lo + hi) / 2, (lo + hi) / 2}} {
		m.ask(&Row{Row: member.Row{Head: &h}, Engine: []float64{test.score}})
		if got := m.p[0]; got != test.want {
			t.Errorf("the engine's score %v predicts %v, want %v", test.score, got, test.want)
		}
	}
}
