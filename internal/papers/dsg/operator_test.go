package dsg

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// A step is that of the sums of appendix D of Dai et al., feature by feature.
func TestOperatorTakesTheStepsOfThePaper(t *testing.T) {
	p := newProcess(40, 5)
	const frequencies, steps, rate, penalty = 2, 4, 0.3, 0.1
	o := newOperator(p.dim, frequencies, steps, p.scale)
	const block = 2 * frequencies
	theta := make([][]float64, 0, steps*block)
	phi := func(seed uint64, b int, x []float32) []float64 {
		w := make([]float32, frequencies*p.dim)
		kernelFrequencies(w, seed, b, p)
		var z []float64
		for j := range frequencies {
			a := float64(w[2*j])*float64(x[0]) + float64(w[2*j+1])*float64(x[1])
			z = append(z, math.Cos(a)/math.Sqrt(frequencies), math.Sin(a)/math.Sqrt(frequencies))
		}
		return z
	}
	all := func(seed uint64, x []float32, n int) (z []float64) {
		for b := range n {
			z = append(z, phi(seed, b, x)...)
		}
		return z
	}
	for s := range steps {
		x := p.x[2*s : 2*s+2]
		z, right := phi(11, s, x), all(12, x, s+1)
		for i := range theta {
			sum := 0.0
			for j, v := range theta[i] {
				sum += v * right[j]
				theta[i][j] *= 1 - rate*penalty
			}
			for _, v := range right[s*block:] {
				theta[i] = append(theta[i], -rate*sum*v)
			}
		}
		for _, a := range z {
			row := make([]float64, s*block)
			for _, v := range right[s*block:] {
				row = append(row, rate*a*v)
			}
			theta = append(theta, row)
		}
		o.step(x, rate, penalty)
	}
	got := o.variance(p.test)
	for i, v := range got {
		x := p.test[2*i : 2*i+2]
		left, right, want := all(11, x, steps), all(12, x, steps), 1.0
		for j, row := range theta {
			for k, c := range row {
				want -= left[j] * c * right[k]
			}
		}
		if math.Abs(v-want) > 1e-5 {
			t.Errorf("point %d: %v, want %v", i, v, want)
		}
	}
}

// The estimate approaches the posterior variance.
func TestOperatorApproachesTheVariance(t *testing.T) {
	p := newProcess(200, 20)
	_, want, err := p.exact()
	if err != nil {
		t.Fatal(err)
	}
	var errors []float64
	err = p.operate(t.Context(), 48, 128, 8, func(_, _ int, v []float64) {
		errors = append(errors, math.Sqrt(meanSquare(v, want)))
	})
	if last := errors[len(errors)-1]; err != nil || last > 0.15 || last > errors[0] {
		t.Errorf("errors %v, %v", errors, err)
	}
}

func kernelFrequencies(w []float32, seed uint64, block int, p *process) {
	o := newOperator(p.dim, len(w)/p.dim, 1, p.scale)
	m := o.left.Map()
	m.Seed, m.Kernel = seed, kernel.Gaussian{Scale: p.scale}
	m.Frequencies(w, block)
}
