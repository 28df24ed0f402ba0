package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestEigenAgreesWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 3, 20, 61, 150} {
		for _, kind := range []string{"gram", "singular", "diagonal", "indefinite", "zero", "graded", "least", "greatest"} {
			a, unit := gram(r, n), 1.0
			switch kind {
			case "least":
				unit = 0x1p-900
			case "greatest":
				unit = 0x1p+900
			}
			for i := range n {
				for j := range n {
					switch {
					case kind == "diagonal" && i != j:
						a[i*n+j] = 0
					case kind == "singular":
						a[i*n+j] = float64(i%3+1) * float64(j%3+1)
					case kind == "indefinite" && i <= j:
						a[i*n+j] = r.NormFloat64()
						a[j*n+i] = a[i*n+j]
					case kind == "zero":
						a[i*n+j] = 0
					case kind == "graded":
						a[i*n+j] *= math.Pow(10, float64(-i-j))
					}
				}
			}
			sym := mat.NewSymDense(n, slices.Clone(a))
			var eigen mat.EigenSym
			eigen.Factorize(sym, false)
			want := eigen.Values(nil)
			size := max(math.Abs(want[0]), math.Abs(want[n-1]))
			var first []float64
			eachISA(func(name string) {
				b := slices.Clone(a)
				for i := range n { // what is above the diagonal does not matter
					for j := range n {
						if b[i*n+j] *= unit; j > i {
							b[i*n+j] = math.NaN()
						}
					}
				}
				values, vectors := make([]float64, n), make([]float64, n*n)
				if !Eigen(values, vectors, b, n) {
					t.Fatalf("%s %s, n = %d: no convergence", name, kind, n)
				}
				for i, v := range values {
					v /= unit // gonum's would not bear such sizes
					x := vectors[i*n : (i+1)*n]
					if math.Abs(v-want[i]) > 1e-12*size*float64(n) {
						t.Errorf("%s %s, n = %d: eigenvalue %d is %v, gonum has %v", name, kind, n, i, v, want[i])
					}
					for j := range n {
						if d := Dot(a[j*n:(j+1)*n], x) - v*x[j]; math.Abs(d) > 1e-12*size*float64(n) {
							t.Fatalf("%s %s, n = %d: (a - value) vector is %v at %d for eigenvalue %d", name, kind, n, d, j, i)
						}
						dot := Dot(x, vectors[j*n:(j+1)*n])
						if i == j {
							dot--
						}
						if math.Abs(dot) > 1e-12*float64(n) {
							t.Fatalf("%s %s, n = %d: vectors %d and %d are not orthonormal by %v", name, kind, n, i, j, dot)
						}
					}
				}
				if all := append(values, vectors...); first == nil {
					first = all
				} else if !slices.Equal(first, all) {
					t.Errorf("%s %s, n = %d: other bits", name, kind, n)
				}
			})
		}
	}
	if Eigen(make([]float64, 2), make([]float64, 4), []float64{1, 0, math.NaN(), 1}, 2) {
		t.Error("a matrix with a NaN has eigenvalues")
	}
}
