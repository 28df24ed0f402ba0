package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel/random"
)

// Products of complex signs estimate the polynomial kernel with no more error than a
// tensor sketch of as many numbers (Pham and Pagh 2013), and so this package has none. The
// sketch is computed from its definition: the numbers of the tensor power, each in a bucket
// that is the sum of a hash of each index, with the product of a sign of each.
// docs/algorithms.md has the figures that this test prints.
func TestComplexSignsVaryNoMoreThanATensorSketch(t *testing.T) {
	const draws, numbers = 600, 128
	for _, test := range []struct{ dim, degree int }{{4, 2}, {4, 3}, {16, 2}, {16, 3}, {64, 2}} {
		r := rand.New(rand.NewPCG(1, 2))
		k := Polynomial{test.degree, 1}
		signs, sketch := 0.0, 0.0
		for seed := range uint64(draws) {
			x, y := make([]float32, test.dim), make([]float32, test.dim)
			for i := range x {
				x[i] = float32(r.NormFloat64())
				y[i] = x[i] + float32(0.7*r.NormFloat64())
			}
			n, long := k.Sizes(test.dim)
			u, v := make([]float64, long), make([]float64, long)
			k.Prepare(u, x)
			k.Prepare(v, y)
			dot := 0.0
			for i := range u {
				dot += u[i] * v[i]
			}
			want := math.Pow(dot, float64(test.degree))

			w, numbersOf := make([]float32, numbers/2*n), make([]float64, numbers/2*n)
			k.Sample(w, test.dim, random.New(3, seed))
			for i, v := range w {
				numbersOf[i] = float64(v)
			}
			a, b := make([]float64, numbers), make([]float64, numbers)
			k.Pairs(a, u, numbersOf)
			k.Pairs(b, v, numbersOf)
			got := 0.0
			for i := range a {
				got += a[i] * b[i] / (numbers / 2)
			}
			signs += (got - want) * (got - want) / draws

			bucket, sign := make([]int, test.degree*long), make([]float64, test.degree*long)
			for i := range bucket {
				bucket[i], sign[i] = r.IntN(numbers), float64(1-2*r.IntN(2))
			}
			a, b = tensorSketch(u, bucket, sign, numbers), tensorSketch(v, bucket, sign, numbers)
			got = 0
			for i := range a {
				got += a[i] * b[i]
			}
			sketch += (got - want) * (got - want) / draws
		}
		t.Logf("%d inputs, degree %d: complex signs have %.2f times the mean squared error of a tensor sketch", test.dim, test.degree, signs/sketch)
		if signs > 1.3*sketch {
			t.Errorf("%d inputs, degree %d: mean squared error %.3g, tensor sketch %.3g", test.dim, test.degree, signs, sketch)
		}
	}
}

// tensorSketch returns the sketch of a power of x, the degree of which is len(bucket)/len(x).
func tensorSketch(x []float64, bucket []int, sign []float64, size int) []float64 {
	sketch := make([]float64, size)
	sketch[0] = 1
	for ; len(bucket) > 0; bucket, sign = bucket[len(x):], sign[len(x):] {
		next := make([]float64, size) // the circular convolution with the sketch of x
		for i, v := range x {
			for at, p := range sketch {
				if p != 0 {
					next[(at+bucket[i])%size] += p * v * sign[i]
				}
			}
		}
		sketch = next
	}
	return sketch
}
