package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestInvertCholeskyIsTheInverse holds the triangle against gonum's.
func TestInvertCholeskyIsTheInverse(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 40, 133} {
		normals := make([]float32, n*n)
		NewNormals(Key("test", uint64(n), 0)).Fill(normals)
		a, dense := make([]float64, n*n), mat.NewTriDense(n, mat.Lower, nil)
		for i := range n {
			for j := range n {
				for k := range n {
					a[i*n+j] += float64(normals[i*n+k]) * float64(normals[j*n+k])
				}
			}
			a[i*n+i]++
		}
		if !Cholesky(a, n) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		for i := range n {
			for j := range i + 1 {
				dense.SetTri(i, j, a[i*n+j])
			}
		}
		var want mat.TriDense
		if err := want.InverseTri(dense); err != nil {
			t.Fatal(err)
		}
		got := make([]float64, n*n)
		InvertCholesky(got, a, n)
		for i := range n {
			for j := range i + 1 {
				if d := got[j*n+i] - want.At(i, j); math.Abs(d) > 1e-10 {
					t.Errorf("n = %d: element %d, %d is %v, want %v", n, i, j, got[j*n+i], want.At(i, j))
				}
			}
		}
	}
}

// TestRidgesAreWhatTheirPartsCompute: factor and diagonal of the inverse have the bits of
// Cholesky, InvertCholesky and Dot, with one diagonal after the other.
func TestRidgesAreWhatTheirPartsCompute(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 40, 64, 71, 131} {
		a := gram(r, n)
		for i := range n {
			for j := i; j < n; j++ { // the diagonal and what is above it do not matter
				a[i*n+j] = math.NaN()
			}
		}
		eachISA(func(name string) {
			ridge := NewRidge(slices.Repeat([]float64{math.NaN()}, n*n), n)
			defer ridge.Release()
			ridge.Set(a)
			for range 2 {
				diagonal, want, l := make([]float64, n), make([]float64, n), slices.Clone(a)
				for i := range diagonal {
					diagonal[i] = 3 * float64(n) * (1 + r.Float64())
					l[i*n+i] = diagonal[i]
				}
				got, w := slices.Repeat([]float64{math.NaN()}, n*n), make([]float64, n*n)
				if !Cholesky(l, n) || !ridge.Factor(diagonal) {
					t.Fatalf("%s, n = %d: not positive definite", name, n)
				}
				ridge.Lower(got)
				InvertCholesky(w, l, n)
				for i := range n {
					if !slices.Equal(got[i*n:i*n+i+1], l[i*n:i*n+i+1]) {
						t.Errorf("%s, n = %d: row %d of the factor differs", name, n, i)
					}
					want[i] = Dot(w[i*n+i:(i+1)*n], w[i*n+i:(i+1)*n])
				}
				inverse := make([]float64, n)
				if ridge.InverseDiagonal(inverse); !slices.Equal(inverse, want) {
					t.Errorf("%s, n = %d: the diagonal of the inverse is %v, want %v", name, n, inverse, want)
				}
			}
			if ridge.Factor(make([]float64, n)) {
				t.Errorf("%s, n = %d: a matrix with zeros on its diagonal was factored", name, n)
			}
		})
	}
}
