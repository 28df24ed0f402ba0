package mixture

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// ranged returns a mixture of one score and two inputs, whose range is that of these rows, with the
// given slopes.
func ranged(margin float32, slopes []float32, rows ...float32) *Static {
	s := span{margin: margin}
	s.add(rows, slices.Repeat([]float64{1}, len(rows)/2))
	return &Static{Engine: []float64{1}, Linear: make([]float32, 3), Range: s.ends(farthest), Slopes: slopes, Factor: 1}
}

func TestRandomFeaturesSeeInputsWithinTheRangeOfTheRows(t *testing.T) {
	s := ranged(0.5, []float32{0, 0}, 0, 10, 4, -10)
	for _, test := range [][2][]float32{
		{{1, 2}, {1, 2}}, {{4.5, 10.5}, {4.5, 10.5}}, {{5, 11}, {4.5, 10.5}}, {{-1e30, 0}, {-0.5, 0}}, {{4, -30, -3, 3}, {4, -10.5, -0.5, 3}},
	} {
		if got := s.Within(nil, test[0]); !slices.Equal(got, test[1]) {
			t.Errorf("%v are seen as %v, want %v", test[0], got, test[1])
		}
	}
	x := []float32{1e30, 1e30}
	if got := new(Static).Within(nil, x); &got[0] != &x[0] {
		t.Error("a mixture without a range sees other inputs")
	}
}

func TestRowsWithoutAWeightDoNotWidenTheRange(t *testing.T) {
	var s span
	s.add([]float32{9, 1, 2, 7}, []float64{0, 1, 1, 0})
	if !slices.Equal(s.low, []float32{1}) || !slices.Equal(s.high, []float32{2}) {
		t.Errorf("the range is %v to %v, want 1 to 2", s.low, s.high)
	}
}

// TestScoresMoveLinearlyBeyondTheRange, and no further than at half its width beyond it.
func TestScoresMoveLinearlyBeyondTheRange(t *testing.T) {
	s := ranged(0, []float32{2, -1}, 0, 0, 4, 10)
	for _, test := range []struct {
		x    []float32
		want float64
	}{
		{[]float32{3, 3}, 0}, {[]float32{5, 3}, 2}, {[]float32{-1, 3}, -2}, {[]float32{5, 12}, 0},
		{[]float32{6, 3}, 4}, {[]float32{1e30, 3}, 4}, {[]float32{-1e30, 1e30}, -4 - 5},
	} {
		f := []float64{0}
		s.Apply(f, test.x, s.Within(nil, test.x), []float64{0}, func(int) sparse.Row { return sparse.Row{} })
		if f[0] != test.want {
			t.Errorf("%v adds %v, want %v", test.x, f[0], test.want)
		}
		parts := make([]float64, 2)
		s.AttributeBeyond(parts, test.x, s.Within(nil, test.x))
		if parts[0]+parts[1] != test.want {
			t.Errorf("the parts of %v are %v, their sum should be %v", test.x, parts, test.want)
		}
	}
}

func TestInvalidRangesAreRefused(t *testing.T) {
	for _, broken := range []func(s *Static){
		func(s *Static) { s.Range[0] = 5 },
		func(s *Static) { s.Range[7] = -20 },
		func(s *Static) { s.Range[1] = float32(math.NaN()) },
		func(s *Static) { s.Slopes[1] = float32(math.NaN()) },
		func(s *Static) { s.Slopes[0] = 2 * mostStatic },
	} {
		s := ranged(1, []float32{1, 2}, 0, 0, 3, 3)
		var a state.Arrays
		s.saveRange(&a)
		var read Static
		from := &state.Reader{In: a}
		if read.loadRange(from, 1, 2); from.Err != nil || !slices.Equal(read.Range, s.Range) || !slices.Equal(read.Slopes, s.Slopes) {
			t.Fatalf("%v %v is read as %v %v: %v", s.Range, s.Slopes, read.Range, read.Slopes, from.Err)
		}
		broken(s)
		a = nil
		s.saveRange(&a)
		from = &state.Reader{In: a}
		if new(Static).loadRange(from, 1, 2); from.Err == nil {
			t.Errorf("the range %v with the slopes %v is read", s.Range, s.Slopes)
		}
	}
}
