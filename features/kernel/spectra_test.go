package kernel

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel/random"
)

func TestAngleIsTheArcCosine(t *testing.T) {
	for c := -1.0; c <= 1; c += 1. / 512 {
		if got, want := angle(c), math.Acos(c); math.Abs(got-want) > 1e-15*4 {
			t.Errorf("angle(%v) = %v, want %v", c, got, want)
		}
	}
}

// The spectra of the additive kernels, bin by bin: the mean of cos(ω log(x/y)) is
// k(x, y)/√(xy).
func TestSpectraOfAdditiveKernelsGiveTheirValues(t *testing.T) {
	const draws = 100_000
	for _, k := range []interface {
		Featured
		Scaled
	}{Chi2{Scale: 1}, Intersection{Scale: 1}, JensenShannon{Scale: 1}} {
		w := make([]float32, 2*draws)
		k.Sample(w, 1, random.New(5, 6))
		for _, log := range []float64{0.1, 0.5, 1, 2, 4} {
			sum, squares := 0.0, 0.0
			for i := 1; i < len(w); i += 2 {
				c := math.Cos(float64(w[i]) * log)
				sum, squares = sum+c/draws, squares+c*c/draws
			}
			// Two bins each, x, 1 and y, 1, of which the sums are made equal by a third.
			x, y := math.Exp(log/2), math.Exp(-log/2)
			u, v := []float64{x, y, 0}, []float64{y, 0, x}
			s := k.WithLengthScale(1e-9)
			want := s.Eval(u, v) * (x + y) // of the first bin alone
			if off := math.Abs(sum-want) / math.Sqrt((squares-sum*sum)/draws); off > 4 {
				t.Errorf("%v, log(x/y) = %v: the mean cosine is %v, want %v: %.1f standard errors", k, log, sum, want, off)
			}
		}
	}
}
