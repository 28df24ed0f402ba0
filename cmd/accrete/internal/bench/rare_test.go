package bench

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// The rarer class has its share, rows keep their order, and each seed draws others.
func TestRarerClassHasItsShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	classes, numbers := set{task: learner.Classification}, set{task: learner.Regression}
	classes.schema = &decode.Schema{Classes: []string{"a", "b", "c"}}
	numbers.schema = &decode.Schema{}
	sixth := []int{0, 0, 0, 1, 1, 2}
	for i := range 6000 {
		x := []float64{float64(i)}
		classes.rows = append(classes.rows, decode.Row{X: x, Label: learner.Label{Task: classes.task, Class: sixth[i%6]}})
		numbers.rows = append(numbers.rows, decode.Row{X: x, Label: learner.Label{Task: numbers.task, Value: rng.NormFloat64()}})
	}
	classes.test, numbers.test = classes.rows[:700], numbers.rows[:700]
	is := map[string]func(decode.Row) bool{
		"":  func(r decode.Row) bool { return int(r.X[0])%6 == 5 }, // c has the fewest rows
		"a": func(r decode.Row) bool { return int(r.X[0])%6 < 3 },
	}
	for name, s := range map[string]*set{"": &classes, "a": &classes, "numbers": &numbers} {
		for _, share := range []float64{0.02, 0.45} {
			c := Command{Rare: share}
			if s == &classes {
				c.RareClass = name
			}
			a, err := c.rarer(s, 1)
			if err != nil {
				t.Fatal(err)
			}
			rare, largest, least := 0.0, math.Inf(-1), math.Inf(1)
			for i, r := range a.rows {
				if i > 0 && r.X[0] <= a.rows[i-1].X[0] {
					t.Fatalf("%s: row %v after %v", name, r.X, a.rows[i-1].X)
				}
				if f := is[name]; f != nil && f(r) != (r.Label.Class == 1) {
					t.Fatalf("%s: the row %v has the label %+v", name, r.X, r.Label)
				}
				if v := s.rows[int(r.X[0])].Label.Value; r.Label.Class == 1 {
					rare, least = rare+1, min(least, v)
				} else {
					largest = max(largest, v)
				}
			}
			if got := rare / float64(len(a.rows)); math.Abs(got-share) > 0.001 || len(a.rows) < 2000 || len(a.test) == 0 {
				t.Errorf("%s: %v of %d rows, want %v; %d for the test", name, got, len(a.rows), share, len(a.test))
			}
			if s == &numbers && largest > least {
				t.Errorf("numbers of the rarer class from %v, others up to %v", least, largest)
			}
			if b, _ := c.rarer(s, 2); s == &classes && equalRows(a.rows, b.rows) {
				t.Errorf("%s: two seeds draw the same rows", name)
			}
			if again, _ := c.rarer(s, 1); !equalRows(a.rows, again.rows) {
				t.Errorf("%s: a seed draws two sets", name)
			}
		}
	}
	for _, c := range []Command{{Rare: 0.02, RareClass: "d"}, {Rare: 0.02, RareClass: "a"}} {
		one := set{task: learner.Classification, schema: &decode.Schema{Classes: []string{"a"}}, rows: make([]decode.Row, 5)}
		if _, err := c.rarer(&one, 1); !errors.Is(err, errUnfit) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func equalRows(a, b []decode.Row) bool {
	for i := range min(len(a), len(b)) {
		if a[i].X[0] != b[i].X[0] {
			return false
		}
	}
	return len(a) == len(b)
}

// The starts of a stream have as many rows each, and begin later by a fixed number.
func TestStartsHaveAsManyRows(t *testing.T) {
	s := &set{name: "s", rowsAreTime: true}
	for i := range 10_000 {
		s.rows = append(s.rows, decode.Row{Weight: float64(i)})
	}
	for i := range 3 {
		o, err := s.from(i, 3)
		if err != nil || len(o.rows) != 6000 || o.rows[0].Weight != float64(2000*i) {
			t.Fatalf("start %d: %v, %d rows", i, err, len(o.rows))
		}
	}
	if _, err := s.from(0, 6); !errors.Is(err, errUnfit) {
		t.Errorf("more starts than rows: %v", err)
	}
}
