package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// TestSoftmaxIsThePlainLoop compares value and probabilities of any number of classes with
// exponentials one by one, to the bit, also where there are infinities.
func TestSoftmaxIsThePlainLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for k := 1; k < 100; k++ {
		f := make([]float64, k)
		for c := range f {
			f[c] = rng.NormFloat64() * math.Ldexp(1, rng.IntN(12))
		}
		switch k % 10 {
		case 3:
			f[rng.IntN(k)] = math.Inf(-1)
		case 7:
			f[rng.IntN(k)] = math.NaN()
		}
		top, sum, y := slices.Max(f), 0.0, rng.IntN(k)
		want := make([]float64, k)
		for c, u := range f {
			want[c] = vec.Exp(u - top)
			sum += want[c]
		}
		for c := range want {
			want[c] /= sum
		}
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if got, want := (Softmax{}).Value(f, float64(y)), top-f[y]+vec.Log(sum); !same(got, want) {
			t.Errorf("Value(%v, %d) = %v, want %v", f, y, got, want)
		}
		got := make([]float64, k)
		of, total := Softmax{}.LinkSum(got, f)
		if got, want := of-f[y]+vec.Log(total), (Softmax{}).Value(f, float64(y)); !same(got, want) {
			t.Errorf("LinkSum(%v) has the value %v of class %d, want %v", f, got, y, want)
		}
		Softmax{}.Link(got, f)
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("Link(%v) = %v, want %v", f, got, want)
		}
		if (Softmax{}).Link(f, f); !slices.EqualFunc(f, want, same) {
			t.Errorf("Link in place = %v, want %v", f, want)
		}
	}
}
