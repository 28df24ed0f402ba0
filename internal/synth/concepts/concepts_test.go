package concepts

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestClassesAreThoseOfTheFormulas recomputes labels from the inputs of streams that
// change, at their beginning and at their end.
func TestClassesAreThoseOfTheFormulas(t *testing.T) {
	const n = 9000
	for _, s := range All {
		next, x := s.New(n, rand.New(rand.NewPCG(1, 1))), make([]float64, s.Inputs)
		counts, wrong := make([]int, max(s.Classes, 1)), 0
		for i := range n {
			y := next(x)
			for _, v := range x {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s: input %v", s.Name, v)
				}
			}
			if s.Classes > 0 {
				counts[int(y)]++
			}
			switch s.Name {
			case "sea drift":
				if want := x[0]+x[1] <= 9.5; i >= 3*n/4 && want != (y == 1) {
					wrong++
				}
			case "stagger drift":
				if want := x[0] == 0 && x[1] == 0; i < n/3 && want != (y == 1) || i >= 2*n/3 && (x[0] > 0) != (y == 1) {
					t.Fatalf("stagger: row %d is of class %v", i, y)
				}
			case "agrawal":
				low, high := 50e3, 100e3
				switch {
				case x[2] >= 60:
					low, high = 25e3, 75e3
				case x[2] >= 40:
					low, high = 75e3, 125e3
				}
				loan := 200e3
				switch salary := x[0] >= low && x[0] <= high; {
				case x[2] < 40 && salary, x[2] >= 60 && !salary:
					loan = 100e3
				case x[2] >= 40 && x[2] < 60 && !salary, x[2] >= 60:
					loan = 300e3
				}
				if granted := x[8] >= loan && x[8] <= loan+200e3; granted != (y == 0) {
					t.Fatalf("agrawal: row %d, %v, is of class %v", i, x, y)
				}
			}
		}
		for c, k := range counts {
			if s.Classes > 0 && k < n/30 {
				t.Errorf("%s: class %d has %d of %d rows", s.Name, c, k, n)
			}
		}
		if s.Name == "sea drift" && math.Abs(float64(wrong)/(n/4)-0.1) > 0.03 {
			t.Errorf("sea: %d of the last %d classes are wrong, want a tenth", wrong, n/4)
		}
	}
}
