package refit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
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

const kinds = 7

func TestEigenIsGonums(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 33} {
		for kind := range kinds {
			a := symmetric(d, kind)
			vectors := slices.Clone(a)
			values := eigen(vectors, d)
			var want mat.EigenSym
			if !want.Factorize(mat.NewSymDense(d, slices.Clone(a)), true) {
				t.Fatal("gonum found no eigenvalues")
			}
			top := 0.0
			for _, v := range values {
				top = max(top, math.Abs(v))
			}
			sorted := slices.Sorted(slices.Values(values))
			for k, w := range want.Values(nil) {
				if math.Abs(sorted[k]-w) > 1e-13*top*float64(d) {
					t.Errorf("d=%d kind %d: eigenvalue %d is %v, gonum has %v", d, kind, k, sorted[k], w)
				}
			}
			for k, v := range values {
				u := vectors[k*d : (k+1)*d]
				for i := range d {
					dot := 0.0
					for j := range d {
						dot += a[i*d+j] * u[j]
					}
					if math.Abs(dot-v*u[i]) > 1e-13*top*float64(d) {
						t.Fatalf("d=%d kind %d: A u is not %v u", d, kind, v)
					}
				}
				for l := range d {
					dot, want := 0.0, 0.0
					for j := range d {
						dot += u[j] * vectors[l*d+j]
					}
					if l == k {
						want = 1
					}
					if math.Abs(dot-want) > 1e-13*float64(d) {
						t.Fatalf("d=%d kind %d: vectors %d and %d have the product %v", d, kind, k, l, dot)
					}
				}
			}
		}
	}
}

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
				for _, v := range eigen(slices.Clone(m), d) {
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

func BenchmarkProject(b *testing.B) {
	a := symmetric(100, 0)
	for b.Loop() {
		project(slices.Clone(a), 100)
	}
}
