package decide

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/ranking"
)

// calibrated is stream with probabilities that are right.
func calibrated(seed uint64, n, rare int, row func(p []float64, class int)) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		odds := math.Exp(2*r.NormFloat64() - 5.7)
		class, p := 1-rare, []float64{1 / (1 + odds), odds / (1 + odds)}
		if r.Float64() < p[1] {
			class = rare
		}
		if rare == 0 {
			p[0], p[1] = p[1], p[0]
		}
		row(p, class)
	}
}

// Where probabilities are right, the smoothed rule loses less to the best threshold in
// hindsight than the best rule for the rows before does, and hardly more where they are far
// too cautious.
func TestSmoothedRuleLosesLess(t *testing.T) {
	lacks := func(rows func(seed uint64, rare int, row func(p []float64, class int))) (smoothed, plain float64) {
		const seeds = 8
		for seed := range uint64(seeds) {
			f, n := NewF1(), 0
			var alone Rule
			of, by := ranking.New(true), ranking.New(true)
			rows(seed, int(seed%2), func(p []float64, class int) {
				of.Add(p, f.Rule.Class(p), class, 1)
				by.Add(p, alone.Class(p), class, 1)
				f.Add(p, class, 1)
				if n++; n%64 == 0 {
					alone, _, _, _ = f.best()
					f.Step(64)
				}
			})
			a, b := of.Figures(0.9), by.Figures(0.9)
			smoothed, plain = smoothed+(a.BestF1-a.F1)/seeds, plain+(b.BestF1-b.F1)/seeds
		}
		return smoothed, plain
	}
	smoothed, plain := lacks(func(seed uint64, rare int, row func([]float64, int)) { calibrated(seed, 12000, rare, row) })
	if smoothed > 0.8*plain {
		t.Errorf("F1 lacks %.4f, without smoothing %.4f", smoothed, plain)
	}
	smoothed, plain = lacks(func(seed uint64, rare int, row func([]float64, int)) { stream(seed, 12000, 0.02, rare, row) })
	if smoothed > plain+0.01 {
		t.Errorf("too cautious: F1 lacks %.4f, without smoothing %.4f", smoothed, plain)
	}
}

// The slope and the shift are where the log likelihood with its prior has its maximum.
func TestCalibrationIsTheMostLikely(t *testing.T) {
	for seed := range uint64(3) {
		f := NewF1()
		stream(seed, 4000, 0.1, 1, func(p []float64, class int) { f.Add(p, class, 1) })
		c := f.calibrate(1)
		likelihood := func(slope, shift float64) (sum float64) {
			for b, z := range logOdds {
				p := 1 / (1 + math.Exp(-c.middle-slope*(z-c.middle)-shift))
				if ones, others := f.counts[1][b], f.counts[0][b]; ones+others > 0 {
					sum += ones*math.Log(p) + others*math.Log(1-p)
				}
			}
			return sum - slopePrior/2*(slope-1)*(slope-1) - shiftPrior/2*shift*shift
		}
		slope, shift := c.slope, c.shift
		most := likelihood(slope, shift)
		for _, d := range []float64{-1e-3, 1e-3} {
			if likelihood(slope+d, shift) > most || likelihood(slope, shift+d) > most {
				t.Errorf("seed %d: slope %v and shift %v are not the most likely", seed, slope, shift)
			}
		}
		if math.Abs(slope-2.5) > 0.5 { // the stream has 2.5
			t.Errorf("seed %d: slope %v, want about 2.5", seed, slope)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	f := NewF1()
	stream(1, 12000, 0.02, 1, func(p []float64, class int) { f.Add(p, class, 1) })
	for b.Loop() {
		f.Step(1)
	}
}
