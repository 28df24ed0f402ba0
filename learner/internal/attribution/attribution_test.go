package attribution

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/forest"
)

// The closed form is the integral of the gradient along the line.
func TestWavesAreIntegratedGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const d, n, k = 4, 20, 2
	x, w, coef := make([]float32, d), make([]float32, n*d), make([]float32, 2*n*k)
	for _, s := range [][]float32{x, w, coef} {
		for i := range s {
			s[i] = float32(rng.NormFloat64())
		}
	}
	clear(w[:d]) // a feature without an angle
	x[2] = 0
	parts, base := make([]float64, d*k), make([]float64, k)
	var waves Waves
	waves.Set(w, d, coef)
	row, slopes := make([]float64, d), make([]float64, k*d)
	for j, v := range x {
		row[j] = float64(v)
	}
	waves.AddBase(base)
	waves.AddSlopes(slopes, row)
	for i, slope := range slopes {
		parts[i%d*k+i/d] = slope * row[i%d]
	}
	for c := range k {
		const steps = 2000
		for j := range d {
			want := 0.0
			for s := range steps {
				share := (float64(s) + 0.5) / steps
				for i := range n {
					angle := 0.0
					for l, v := range x {
						angle += float64(w[i*d+l]) * float64(v) * share
					}
					want += (float64(coef[(2*i+1)*k+c])*math.Cos(angle) - float64(coef[2*i*k+c])*math.Sin(angle)) * float64(w[i*d+j]) * float64(x[j]) / steps
				}
			}
			if math.Abs(parts[j*k+c]-want) > 1e-5 {
				t.Errorf("score %d, column %d: %v, numerically %v", c, j, parts[j*k+c], want)
			}
		}
		f := func(share float64) (sum float64) {
			for i := range n {
				angle := 0.0
				for l, v := range x {
					angle += float64(w[i*d+l]) * float64(v) * share
				}
				sum += float64(coef[2*i*k+c])*math.Cos(angle) + float64(coef[(2*i+1)*k+c])*math.Sin(angle)
			}
			return sum
		}
		sum := base[c]
		for j := range d {
			sum += parts[j*k+c]
		}
		if math.Abs(base[c]-f(0)) > 1e-12 || math.Abs(sum-f(1)) > 1e-12 {
			t.Errorf("score %d: base %v and sum %v, want %v and %v", c, base[c], sum, f(0), f(1))
		}
	}
}

func TestChordsOfSmallAnglesAreAccurate(t *testing.T) {
	for _, v := range []float64{0, 1e-9, -9.99e-5, 1.001e-4, -3, 40} {
		c, s := chords(v)
		wantC, wantS := -v/2, 1.0
		if math.Abs(v) > 1e-7 {
			wantC, wantS = -2*math.Pow(math.Sin(v/2), 2)/v, math.Sin(v)/v
		}
		if math.Abs(c-wantC) > 1e-13 || math.Abs(s-wantS) > 1e-13 {
			t.Errorf("chords of %v: %v and %v, want %v and %v", v, c, s, wantC, wantS)
		}
	}
}

// The parts of trees are what small steps along the line change, one column at a time.
func TestLeavesAreTheJumpsOnTheLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const d, rows, k = 3, 300, 1
	s := forest.Sample{Dim: d}
	for range rows {
		x := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		s.X = append(s.X, x...)
		s.Targets = append(s.Targets, float64(x[0]*x[1]))
		s.Weights = append(s.Weights, 1)
	}
	f := forest.Grow(s, 5, 1)
	coef := make([]float32, f.Leaves()*k)
	for i := range coef {
		coef[i] = float32(rng.NormFloat64())
	}
	value := func(x []float32) float64 {
		sum := []float64{0}
		f.Sum(sum, x, coef, 1)
		return sum[0]
	}
	for row := range 5 {
		x := s.X[row*d : (row+1)*d]
		parts, base := make([]float64, d), make([]float64, 1)
		Leaves(parts, base, f, x, coef)
		const steps = 20000
		want, at := make([]float64, d), make([]float32, d)
		for step := range steps {
			for j := range d {
				before := value(at)
				at[j] = float32(float64(x[j]) * float64(step+1) / steps)
				want[j] += value(at) - before
			}
		}
		for j := range d {
			if math.Abs(parts[j]-want[j]) > 1e-5 {
				t.Errorf("row %d, column %d: %v, in small steps %v", row, j, parts[j], want[j])
			}
		}
		if got := base[0] + parts[0] + parts[1] + parts[2]; math.Abs(got-value(x)) > 1e-5 {
			t.Errorf("row %d: the parts sum to %v, want %v", row, got, value(x))
		}
	}
}
