package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// gram is a positive definite matrix whose eigenvalues spread over a few powers
// of ten.
func gram(r *rand.Rand, n int) []float64 {
	g := mat.NewDense(n+3, n, nil)
	for i := range n + 3 {
		for j := range n {
			g.Set(i, j, r.NormFloat64()/(1+float64(j)/4))
		}
	}
	var a mat.Dense
	a.Mul(g.T(), g)
	return a.RawMatrix().Data
}

func TestDotAndAxpyHaveTheirOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		x, y := make([]float64, n), make([]float64, n+1)
		var lane [8]float64
		for i := range x {
			x[i], y[i] = r.NormFloat64(), math.Exp(10*r.NormFloat64())
			lane[i%8] += float64(x[i] * y[i])
		}
		for k := 4; k > 0; k /= 2 {
			for l := range k {
				lane[l] += lane[l+k]
			}
		}
		z := append([]float64(nil), y...)
		for i, v := range x {
			z[i] += float64(.7 * v)
		}
		eachISA(func(name string) {
			if got := Dot(x, y); got != lane[0] {
				t.Errorf("%s: Dot of %d numbers = %v, want %v", name, n, got, lane[0])
			}
			w := append([]float64(nil), y...)
			if Axpy(.7, x, w); !slices.Equal(w, z) {
				t.Errorf("%s: Axpy of %d numbers = %v, want %v", name, n, w, z)
			}
		})
	}
}

func TestSolutionsAgreeWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 7, 30, 131} {
		a := gram(r, n)
		sym := mat.NewSymDense(n, append([]float64(nil), a...))
		var eigen mat.EigenSym
		eigen.Factorize(sym, false)
		want := eigen.Values(nil)[n-1]
		if got := MaxEigenvalue(a, n); got > want*(1+1e-12) || got < want*.98 {
			t.Errorf("n = %d: the greatest eigenvalue is estimated as %v, and is %v", n, got, want)
		}

		b, x := make([]float64, n), make([]float64, n)
		for i := range b {
			b[i] = r.NormFloat64()
			x[i] = b[i]
		}
		for i := range n { // what is above the diagonal does not matter
			for j := i + 1; j < n; j++ {
				a[i*n+j] = math.NaN()
			}
		}
		if !Cholesky(a, n) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		CholeskySolve(a, n, x)
		var chol mat.Cholesky
		var solution mat.VecDense
		if !chol.Factorize(sym) || chol.SolveVecTo(&solution, mat.NewVecDense(n, b)) != nil {
			t.Fatal("gonum has no solution")
		}
		for i := range x {
			if d := math.Abs(x[i] - solution.AtVec(i)); d > 1e-9*mat.Norm(&solution, 2) {
				t.Errorf("n = %d: component %d of the solution is %v, gonum has %v", n, i, x[i], solution.AtVec(i))
			}
		}
	}
	if Cholesky([]float64{1, 2, 2, 1}, 2) {
		t.Error("a matrix with a negative eigenvalue was factorised")
	}
}

// The bits of a solution are a format: these values may never change.
func TestSolutionsAreGolden(t *testing.T) {
	const n = 50
	z := make([]float32, n*n+n)
	NewNormals(Key("golden", 7, 8)).Fill(z)
	a, b := make([]float64, n*n), make([]float64, n)
	for i := range n {
		b[i] = float64(z[n*n+i])
		for j := range i {
			a[i*n+j] = float64(z[i*n+j])
			a[j*n+i] = a[i*n+j]
		}
		a[i*n+i] = 2 * n
	}
	got := []float64{MaxEigenvalue(a, n)}
	values, vectors := make([]float64, n), make([]float64, n*n)
	Eigen(values, vectors, slices.Clone(a), n)
	if got, want := digest64(append(values, vectors...)), uint64(0x7a30c4b3f08f98d3); got != want {
		t.Errorf("the eigenvalues and eigenvectors have the digest %#x, want %#x", got, want)
	}
	Cholesky(a, n)
	CholeskySolve(a, n, b)
	if got, want := digest64(append(got, b...)), uint64(0xb697a8de51cf1b93); got != want {
		t.Errorf("the digest is %#x, want %#x", got, want)
	}
}

func TestGramIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s Scratch
	for _, c := range [][2]int{{1, 1}, {3, 12}, {300, 33}, {40, 100}, {520, 70}} {
		rows, n := c[0], c[1]
		phi := random(r, rows*n, 1)
		want := make([]float64, n*n)
		for i := range n {
			for j := range n {
				want[i*n+j] = float64(i - j)
				for from := 0; j <= i && from < rows; from += Run {
					v := float32(0)
					for k := from; k < min(from+Run, rows); k++ {
						v = FMA(phi[k*n+i], phi[k*n+j], v)
					}
					want[i*n+j] += float64(v)
				}
			}
		}
		eachISA(func(name string) {
			g := make([]float64, n*n)
			for i := range g {
				g[i] = float64(i/n - i%n)
			}
			if Gram(g, phi, n, &s); !slices.Equal(g, want) {
				t.Errorf("%s: Gram of %d rows of %d numbers is not what its comment says", name, rows, n)
			}
		})
	}
}

func TestEigenAgreesWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 3, 20, 61, 150} {
		for _, kind := range []string{"gram", "singular", "diagonal", "indefinite"} {
			a := gram(r, n)
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
					for j := i + 1; j < n; j++ {
						b[i*n+j] = math.NaN()
					}
				}
				values, vectors := make([]float64, n), make([]float64, n*n)
				if !Eigen(values, vectors, b, n) {
					t.Fatalf("%s %s, n = %d: no convergence", name, kind, n)
				}
				for i, v := range values {
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
