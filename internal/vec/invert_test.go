package vec

import (
	"math"
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
