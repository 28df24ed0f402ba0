package synth

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// best undoes what the comment of Stream says, without its code.
func best(s Stream, i int64, x []float64) int {
	c := concept(s.Seed, i/Period)
	angle := -math.Pi / 8 * float64(i) / Period
	a, b := x[c[0]], x[c[1]]
	u := math.Cos(angle)*a - math.Sin(angle)*b
	v := math.Sin(angle)*a + math.Cos(angle)*b
	if u*v > 0 {
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

func TestConceptsChangeWithThePeriodAlone(t *testing.T) {
	seen := map[[2]int]bool{}
	for p := range int64(20) {
		c := concept(7, p)
		if c[0] == c[1] {
			t.Errorf("period %d: inputs %v", p, c)
		}
		seen[c] = true
	}
	if len(seen) < 12 {
		t.Errorf("20 periods have %d concepts", len(seen))
	}
}

// TestNoInputTellsTheClassAlone is why a linear classifier fails.
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
	if want := [3]float64{1.5805266811661631, 0.19304333472832091, -0.21900229428823481}; got != want || class != 0 {
		t.Errorf("class %d, inputs %.17g", class, got)
	}
	y := make([]float64, Dim)
	Stream{Seed: 42}.At(5, y)
	if again := (Stream{Seed: 42}).At(123_456, y); again != class || [Dim]float64(x) != [Dim]float64(y) {
		t.Error("an example depends on those before it")
	}
}
