package member

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// learnChunks has l learn chunks of 16 rows, whose label is a line of the row and what add returns.
func learnChunks(l *Linear, rng *rand.Rand, chunks int, add func(i int) float64) {
	const rows = 16
	for range chunks {
		var c Chunk
		for i := range rows {
			x := rng.NormFloat64()
			c.X = append(c.X, float32(x))
			c.Labels = append(c.Labels, target.Label{Task: target.Regression, Value: x/2 + rng.NormFloat64()/10 + add(i)})
			c.Weights, c.Last = append(c.Weights, 1), append(c.Last, target.Label{})
		}
		l.Learn(&c)
	}
}

// errorAt returns how far l is from a line at two rows, at most.
func errorAt(l *Linear, h *target.Head, level float64) float64 {
	most := 0.0
	for _, x := range []float32{-1, 1} {
		f := make([]float64, 1)
		l.Score(f, &Row{Head: h, X: []float32{x}})
		most = max(most, math.Abs(f[0]-float64(x)/2-level))
	}
	return most
}

// TestLinearFollowsLevelsAndNotOutliers: a label far from those of its chunk has no large effect,
// and a level that all of them have is learned as least squares learns it.
func TestLinearFollowsLevelsAndNotOutliers(t *testing.T) {
	h := target.NewHead(nil, target.Regression, 0, 1)
	for _, forget := range []float64{0.998, 0.9995, 1} {
		l := linearKind(forget, false).New(h).(*Linear)
		l.Start(h, []float64{1})
		rng := rand.New(rand.NewPCG(1, 2))
		none := func(int) float64 { return 0 }
		learnChunks(l, rng, 64, none)
		if got := errorAt(l, &h, 0); got > 0.05 {
			t.Fatalf("forgetting %v: %v from the line", forget, got)
		}
		learnChunks(l, rng, 2, func(i int) float64 { return 1e6 * float64(max(0, i-14)) })
		if got := errorAt(l, &h, 0); got > 0.1 {
			t.Errorf("forgetting %v: after two outliers of 1e6 it is %v from the line", forget, got)
		}
		before := errorAt(l, &h, 100)
		learnChunks(l, rng, 64, func(int) float64 { return 100 })
		want := before / 2 // without forgetting: as many rows as before
		if forget < 1 {
			want = before * math.Pow(forget, 64*16) / (1 + math.Pow(forget, 64*16))
		}
		if got := errorAt(l, &h, 100); got > 1.1*want {
			t.Errorf("forgetting %v: %v from the new level of 100, want about %v", forget, got, want)
		}
	}
}

// TestSharedCoefficientsAreThoseOfAMemberAlone: above maxInputs inputs a member that shares those of
// another has the state of one that learns for itself, also after a restart from its state and with
// another class. With fewer inputs, or another row, each learns for itself.
func TestSharedCoefficientsAreThoseOfAMemberAlone(t *testing.T) {
	for _, inputs := range []int{4, maxInputs + 3} {
		for _, last := range []bool{false, true} {
			h := target.NewHead(nil, target.Classification, 2, 1)
			first, shares, alone := linearKind(1, false).New(h).(*Linear), linearKind(0.998, last).New(h).(*Linear), linearKind(0.998, last).New(h).(*Linear)
			all := []*Linear{first, shares, alone}
			shares.Share(first)
			factors := slices.Repeat([]float64{1}, inputs)
			for _, l := range all {
				l.Start(h, factors)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			for part := range 4 {
				c := Chunk{}
				for i := range 32 {
					y := target.Label{Task: target.Classification, Class: i % h.Classes}
					c.Labels, c.Weights, c.Last = append(c.Labels, y), append(c.Weights, 1), append(c.Last, y)
					for range inputs {
						c.X = append(c.X, float32(rng.NormFloat64()))
					}
				}
				for _, l := range all {
					l.Learn(&c)
				}
				switch part {
				case 1:
					h = target.NewHead(nil, target.Classification, 3, 1)
					for _, l := range all {
						l.Widen(h, 64)
					}
				case 2:
					shares = linearKind(0.998, last).New(h).(*Linear)
					first = linearKind(1, false).New(h).(*Linear)
					shares.Share(first)
					for i, l := range []*Linear{first, shares} {
						l.Start(h, factors)
						s := &state.Reader{In: saved(all[i])}
						l.Load(s, "l")
						if err := s.End(); err != nil {
							t.Fatal(err)
						}
						all[i] = l
					}
				}
				if got, want := saved(all[1]), saved(all[2]); !reflect.DeepEqual(got, want) {
					t.Errorf("%d inputs, last label %t, part %d: the state is not that of a member alone", inputs, last, part)
				}
			}
			if same := &shares.w[0] == &first.w[0]; same != (inputs > maxInputs && !last) {
				t.Errorf("%d inputs, last label %t: shared is %t", inputs, last, same)
			}
		}
	}
}

func saved(l *Linear) []state.Array {
	var a state.Arrays
	l.Save(&a, "l")
	return a
}
