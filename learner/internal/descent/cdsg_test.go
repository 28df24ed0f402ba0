package descent

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Li and Póczos, equation 9: the longest step is the greatest root, as a search
// finds it.
func TestEquation9IsSolvedForItsGreatestRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(4)
		trace, mean := make([]float64, n), make([]float64, n)
		size := rng.Float64()
		for i := range n {
			trace[i], mean[i] = rng.NormFloat64()*size, rng.NormFloat64()
		}
		rate, noise := rng.Float64()+0.01, rng.Float64()/2
		excess := func(h float64) float64 {
			sum := 2 * h * h * noise
			for i := range n {
				d := trace[i] - h*mean[i]
				sum += 2*d*d - trace[i]*trace[i] - rate*rate*mean[i]*mean[i]
			}
			return sum
		}
		want := 0.0
		for h := 20.0; h > 0; h -= 1e-3 {
			if excess(h) <= 1e-9 {
				want = h
				break
			}
		}
		if got := longestStep(trace, mean, rate, noise); got < 19 && math.Abs(got-want) > 2e-3 {
			t.Fatalf("trace %v, mean %v, rate %v, noise %v: %v, want %v", trace, mean, rate, noise, got, want)
		}
	}
	for _, c := range []struct{ trace, want float64 }{{0.3, 0.55495}, {0.05, 0.19577}} {
		if got := longestStep([]float64{c.trace}, []float64{1}, 0.2, 0); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("trace %v: %v, want %v", c.trace, got, c.want)
		}
	}
	// Without noise a block is as good as new from (2-√3)·rate on.
	edge := (2 - math.Sqrt(3)) * 0.2
	if a, b := longestStep([]float64{edge + 1e-6}, []float64{1}, 0.2, 0), longestStep([]float64{edge - 1e-6}, []float64{1}, 0.2, 0); a <= 0.2 || b > 0.2 {
		t.Errorf("about the edge %v: %v and %v", edge, a, b)
	}
}

// Where equation 9 admits no block, a model that may not grow takes its step in any of
// them, and not always in the first.
func TestCDSGAtTheCapRevisitsEveryBlock(t *testing.T) {
	const blocks, scores = 8, 26
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rule := range []CDSG{{}, {Alpha: true}} {
		visits := make([]int, blocks)
		for step := range int64(2000) {
			s := Situation{
				Step: step + 1, Seed: 1, Blocks: blocks, MaxBlocks: blocks, Rate: 1, Ceiling: 1,
				Mean: make([]float64, scores), Squares: 1, Rows: 128, Traces: make([]float64, blocks*scores),
				Slopes: func() (products, squares []float64) {
					products, squares = make([]float64, blocks), make([]float64, blocks)
					for k := range squares {
						products[k], squares[k] = -10, 1 // every step would add to the coefficients
					}
					return products, squares
				},
			}
			for i := range s.Mean {
				s.Mean[i] = rng.NormFloat64()
			}
			for i := range s.Traces {
				s.Traces[i] = 3 * rng.NormFloat64()
			}
			from, to, rate := rule.Choose(&s)
			if to != from+1 || to > blocks || rate != s.Rate {
				t.Fatalf("%v: blocks %d to %d at rate %v", rule, from, to, rate)
			}
			visits[from]++
		}
		for k, n := range visits {
			if n < 100 {
				t.Errorf("%v: block %d has %d of 2000 steps", rule, k, n)
			}
		}
	}
}

// What a rule does at the cap is what is configured.
func TestAtTheCapAsConfigured(t *testing.T) {
	for _, rule := range []Rule{DSG{}, UDSG{1, 1}, CDSG{}, CDSG{Alpha: true}} {
		for _, newton := range []bool{false, true} {
			for cap, want := range map[string][2]int{capAll: {0, 4}, capStop: {0, 0}} {
				s := Situation{
					Step: 5, Seed: 1, Blocks: 4, MaxBlocks: 4, Rate: 0.5, Ceiling: 0.5, AtCap: cap, Newton: newton,
					Mean: []float64{1}, Squares: 1, Rows: 10, Traces: make([]float64, 4),
					Slopes: func() (products, squares []float64) { return make([]float64, 4), make([]float64, 4) },
				}
				if from, to, _ := rule.Choose(&s); from != want[0] || to != want[1] {
					t.Errorf("%v, %s: blocks %d to %d, want %v", rule, cap, from, to, want)
				}
			}
		}
	}
}
