package synth

import (
	"flag"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/accrete-ml/accrete/learner"
)

// best implements the best classifier from the comment of Stream, independently
// of its code.
func best(s Stream, i int64, x []float64) int {
	c, exchanged := concept(s.Seed, i/Period)
	angle := -math.Pi / 8 * math.Sin(2*math.Pi*float64(i)/(5*Period))
	a, b := x[c[0]], x[c[1]]
	u := math.Cos(angle)*a - math.Sin(angle)*b
	v := math.Sin(angle)*a + math.Cos(angle)*b
	if u*v > 0 != exchanged {
		return 1
	}
	return 0
}

func TestBestClassifierHasTheBayesError(t *testing.T) {
	const n = 200_000
	s := Stream{Seed: 1}
	x := make([]float64, Dim)
	wrong := 0.0
	for i := range int64(n) {
		if class := s.At(i, x); best(s, i, x) != class {
			wrong++
		}
	}
	if err := 4 * math.Sqrt(Bayes*(1-Bayes)/n); math.Abs(wrong/n-Bayes) > err {
		t.Errorf("error %v, want %v ± %v", wrong/n, Bayes, err)
	}
}

func TestConceptsComeBackExchanged(t *testing.T) {
	for seed := range uint64(20) {
		seen := map[int]bool{}
		for p := range int64(5) {
			c, exchanged := concept(seed, p)
			seen[c[0]], seen[c[1]] = true, true
			again, other := concept(seed, p+4)
			if p > 0 && (again != c || other == exchanged) {
				t.Errorf("seed %d: periods %d and %d are %v %v and %v %v", seed, p, p+4, c, exchanged, again, other)
			}
		}
		if len(seen) != Dim {
			t.Errorf("seed %d: five periods use the inputs %v", seed, seen)
		}
	}
}

var whole = flag.Bool("whole", false, "learn three concepts to their ends, with dsg and cdsg too")

// TestLearnerComesCloseToTheBayesError checks what the demo documents for the
// 10,000 examples before each change of concept: two of them, each of which is learned in
// half of its examples; with -whole, three from the first example on, by the algorithms of the
// papers too.
func TestLearnerComesCloseToTheBayesError(t *testing.T) {
	if testing.Short() {
		t.Skip("learns 50,000 examples")
	}
	algorithms := []string{"newton"}
	if *whole {
		algorithms = append(algorithms, "dsg", "cdsg")
	}
	for _, algorithm := range algorithms {
		t.Run(algorithm, func(t *testing.T) { comesClose(t, learner.Config{Algorithm: algorithm}) })
	}
}

func comesClose(t *testing.T, c learner.Config) {
	l, err := learner.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := Stream{Seed: 7}
	x := make([]float64, Dim)
	var b learner.Batch
	from, to := int64(Period/2), int64(2*Period)
	if *whole {
		from, to = 0, 3*Period
	}
	for i := from; i < to; {
		b.Reset(Dim)
		for range 1000 {
			y := learner.Label{Task: learner.Classification, Class: s.At(i, x)}
			b.Append(x, y, 1)
			i++
		}
		for rest := &b; rest.Len() > 0; {
			p := l.Predict(rest)
			rest = rest.Slice(p.Len(), rest.Len())
			l.Learn(p)
		}
		if i%Period == 0 {
			p := l.Progress().Recent
			t.Logf("before example %d: error %.4f, linear %.4f", i, p.Model.Error, p.Linear.Error)
			if p.Model.Error > Bayes+0.05 || p.Model.Error > 0.6*p.Linear.Error {
				t.Errorf("before example %d: error %v, linear %v", i, p.Model.Error, p.Linear.Error)
			}
			if !*whole {
				i += Period / 2
			}
		}
	}
}

// TestNoInputTellsTheClassAlone checks why a linear classifier fails: no single
// input is correlated with the class.
func TestNoInputTellsTheClassAlone(t *testing.T) {
	s := Stream{Seed: 3}
	const n = 20_000
	columns, classes := make([][]float64, Dim), make([]float64, n)
	x := make([]float64, Dim)
	for i := range int64(n) {
		classes[i] = float64(s.At(i, x))
		for j, v := range x {
			columns[j] = append(columns[j], v)
		}
	}
	for j, column := range columns {
		if r := stat.Correlation(column, classes, nil); math.Abs(r) > 5/math.Sqrt(n) {
			t.Errorf("input %d: correlation with the class %v", j, r)
		}
	}
}

func TestExamplesAreForever(t *testing.T) {
	x := make([]float64, Dim)
	class := Stream{Seed: 42}.At(123_456, x)
	got := [3]float64{x[0], x[4], x[9]}
	if want := [3]float64{0.49233094216306794, 0.14478250104624069, -0.16425172071617611}; got != want || class != 0 {
		t.Errorf("class %d, inputs %.17g", class, got)
	}
	y := make([]float64, Dim)
	Stream{Seed: 42}.At(5, y)
	if again := (Stream{Seed: 42}).At(123_456, y); again != class || [Dim]float64(x) != [Dim]float64(y) {
		t.Error("an example depends on those before it")
	}
}
