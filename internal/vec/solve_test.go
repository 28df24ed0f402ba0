package vec

import (
	"fmt"
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
			each := make([]float64, 3)
			Dots(each, x, append(append(append([]float64(nil), y[:n]...), x...), y[:n]...))
			if want := []float64{lane[0], Dot(x, x), lane[0]}; !slices.Equal(each, want) {
				t.Errorf("%s: Dots of %d numbers = %v, want %v", name, n, each, want)
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

// plainCholesky is Cholesky in the order that its comment gives.
func plainCholesky(a []float64, n int) {
	for i := range n {
		for j := range i + 1 {
			v := a[i*n+j]
			for k := range j {
				v -= float64(a[i*n+k] * a[j*n+k])
			}
			if i == j {
				a[i*n+j] = math.Sqrt(v)
			} else {
				a[i*n+j] = v * (1 / a[j*n+j])
			}
		}
	}
}

// plainInverse is the transposed inverse of a factor, over NaNs.
func plainInverse(l []float64, n int) []float64 {
	w := make([]float64, n*n)
	for i := range w {
		w[i] = math.NaN()
	}
	for j := range n {
		for i := j; i < n; i++ {
			v := 0.0
			if i == j {
				v = 1
			}
			for k := j; k < i; k++ {
				v -= float64(l[i*n+k] * w[j*n+k])
			}
			w[j*n+i] = v * (1 / l[i*n+i])
		}
	}
	return w
}

func TestTrianglesAreTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	same := func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b })
	}
	for _, n := range []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65, 71, 100, 131} {
		a := gram(r, n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				a[i*n+j] = math.NaN()
			}
		}
		l := slices.Clone(a)
		plainCholesky(l, n)
		inverse := plainInverse(l, n)
		eachISA(func(name string) {
			got := slices.Clone(a)
			if !Cholesky(got, n) || !same(got, l) {
				t.Errorf("%s: n = %d: the factor is not what its comment says", name, n)
			}
			w := make([]float64, n*n)
			for i := range w {
				w[i] = math.NaN()
			}
			if InvertCholesky(w, l, n); !same(w, inverse) {
				t.Errorf("%s: n = %d: the inverse is not what its comment says", name, n)
			}
			got = slices.Clone(a)
			at := r.IntN(n)
			got[at*n+at] = -1
			if Cholesky(got, n) {
				t.Errorf("%s: n = %d: a matrix with -1 on its diagonal was factorised", name, n)
			}
		})
	}
}

func TestProductsAreTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{1, 2, 7, 8, 9, 31, 32, 33, 75} {
		dim := 1 + r.IntN(50)
		x, want := make([]float64, n*dim), make([]float64, n*n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range n {
			for j := range n {
				want[i*n+j] = 7
				if j <= i {
					want[i*n+j] = 0
					for k := range dim {
						want[i*n+j] += float64(x[i*dim+k] * x[j*dim+k])
					}
				}
			}
		}
		eachISA(func(name string) {
			got := make([]float64, n*n)
			for i := range got {
				got[i] = 7
			}
			if Products(got, x, n); !slices.Equal(got, want) {
				t.Errorf("%s: the products of %d rows of %d numbers are not what their comment says", name, n, dim)
			}
		})
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{128, 512, 1000} {
		a := gram(rand.New(rand.NewPCG(9, 10)), n)
		for i := range n {
			a[i*n+i]++
		}
		l, w := make([]float64, n*n), make([]float64, n*n)
		b.Run(fmt.Sprintf("kernel=factor/n=%d", n), func(b *testing.B) {
			for range b.N {
				copy(l, a)
				Cholesky(l, n)
			}
		})
		b.Run(fmt.Sprintf("kernel=inverse/n=%d", n), func(b *testing.B) {
			for range b.N {
				InvertCholesky(w, l, n)
			}
		})
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
	if got, want := digest64(append(got, b...)), uint64(0x658968448bcaae53); got != want {
		t.Errorf("the digest is %#x, want %#x", got, want)
	}
}

func TestSolutionsOfEightColumnsAreThoseOfEach(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{1, 2, 7, 8, 9, 16, 23, 64, 131} {
		a := gram(r, n)
		if !Cholesky(a, n) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		b := make([]float64, n*8)
		for i := range b {
			b[i] = r.NormFloat64()
		}
		want := slices.Clone(b)
		for c := range 8 {
			x := make([]float64, n)
			for i := range x {
				x[i] = b[i*8+c]
			}
			CholeskySolve(a, n, x)
			for i, v := range x {
				want[i*8+c] = v
			}
		}
		eachISA(func(name string) {
			got := slices.Clone(b)
			CholeskySolves(a, n, got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, n = %d: the solutions differ from those of each column", name, n)
			}
		})
	}
}

// plainSolve is CholeskySolve in the order that the comments of solve512 and Dot give.
func plainSolve(l []float64, n int, b []float64) {
	for i := range n {
		var lane [8]float64
		for j := range i {
			lane[j%8] += float64(l[i*n+j] * b[j])
		}
		for k := 4; k > 0; k /= 2 {
			for c := range k {
				lane[c] += lane[c+k]
			}
		}
		b[i] = (b[i] - lane[0]) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= l[i*n+i]
		for j := range i {
			b[j] -= float64(l[i*n+j] * b[i])
		}
	}
}

func TestSolutionsAreTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for n := range 70 {
		l, b := make([]float64, n*n), make([]float64, n+3)
		for i := range l { // what is above the diagonal does not matter
			if l[i] = math.NaN(); i/n >= i%n {
				l[i] = math.Exp(2*r.NormFloat64()) + 1
			}
		}
		for i := range b {
			if b[i] = 100 * r.NormFloat64(); i%5 == 1 {
				b[i] = math.Copysign(0, b[i])
			}
		}
		want := slices.Clone(b)
		plainSolve(l, n, want)
		bits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
		eachISA(func(name string) {
			got := slices.Clone(b)
			if CholeskySolve(l, n, got); !slices.EqualFunc(got, want, bits) {
				t.Errorf("%s, n = %d: the solution is not what its definition says", name, n)
			}
		})
	}
}

func BenchmarkCholeskySolve(b *testing.B) {
	for _, n := range []int{20, 65, 128} {
		l, v := gram(rand.New(rand.NewPCG(9, 10)), n), make([]float64, n)
		for i := range n {
			l[i*n+i], v[i] = 1e3, 1
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for range b.N {
				CholeskySolve(l, n, v)
				v[0] = 1
			}
		})
	}
}
