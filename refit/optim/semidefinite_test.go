package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// symmetric returns matrices of many kinds, all symmetric.
func symmetric(d int, kind int) []float64 {
	r := rand.New(rand.NewPCG(uint64(d), uint64(kind)))
	a := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := r.NormFloat64()
			switch kind {
			case 1: // diagonal
				if i != j {
					v = 0
				}
			case 2: // of rank 1
				v = float64((i%3 - 1) * (j%3 - 1))
			case 3: // far apart
				v *= math.Pow(10, float64(-i-j))
			case 4: // one value many times
				v = 1
				if i == j {
					v = 3
				}
			case 5:
				v *= 1e-100
			case 6:
				v = 0
			}
			a[i*d+j], a[j*d+i] = v, v
		}
	}
	return a
}

// eigenvalues returns those of the symmetric matrix a.
func eigenvalues(a []float64, d int) []float64 {
	values := make([]float64, d)
	vec.Eigen(values, make([]float64, d*d), slices.Clone(a), d)
	return values
}

const kinds = 7

func TestProjectionIsTheNearest(t *testing.T) {
	for _, d := range []int{1, 2, 7, 20} {
		for kind := range kinds {
			a := symmetric(d, kind)
			got := slices.Clone(a)
			norm := project(got, d)
			rest := make([]float64, d*d) // got - a has to be semidefinite and orthogonal to got
			var dot, square, top float64
			for i, v := range got {
				rest[i] = v - a[i]
				dot += rest[i] * v
				square += v * v
				top = max(top, math.Abs(a[i]))
			}
			for what, m := range map[string][]float64{"the projection": got, "what it added": rest} {
				values := eigenvalues(m, d)
				for _, v := range values {
					if v < -1e-13*top*float64(d) {
						t.Errorf("d=%d kind %d: %s has an eigenvalue %v", d, kind, what, v)
					}
				}
			}
			if tolerance := 1e-12 * top * top * float64(d*d); math.Abs(dot) > tolerance || math.Abs(norm-square) > tolerance {
				t.Errorf("d=%d kind %d: the product is %v, the squared norm %v, want %v", d, kind, dot, norm, square)
			}
		}
	}
}

func TestProjectionOfWhatIsNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if norm := project([]float64{1, v, v, 1}, 2); !math.IsNaN(norm) {
			t.Errorf("the squared norm is %v with an element %v, want NaN", norm, v)
		}
	}
}

func BenchmarkProject(b *testing.B) {
	a := symmetric(100, 0)
	for b.Loop() {
		project(slices.Clone(a), 100)
	}
}
