package vec

import (
	"math"
)

// Cholesky replaces the lower triangle of the symmetric matrix a, n x n and row-major, by its lower
// triangular factor: a = L Lᵀ. It does not read or write the rest of a. If a is not positive
// definite, it returns false, and the triangle is undefined.
//
// The products are subtracted from each number one by one, in the order of their columns, each
// rounded. The difference is multiplied by the inverse of the diagonal element.
func Cholesky(a []float64, n int) bool {
	l := newTriangle(n)
	defer l.release()
	l.pack(a)
	if !l.factor() {
		return false
	}
	l.unpack(a)
	return true
}

// factor replaces a matrix by its factor, and reports whether there is one.
func (t *triangle) factor() bool {
	n := t.n
	for from := 0; from < n; from += side * strip {
		end := min(from+side*strip, n)
		for j := 0; j < end; j += strip {
			if j >= from {
				eliminate(t.panel(j), t.panel(j), j, nil)
				if !t.factorDiagonal(j) {
					return false
				}
			}
			for i := max(from, j+strip); i < end; i += strip {
				eliminate(t.panel(j), t.panel(i), j, t.inverse[j:])
			}
		}
	}
	return true
}

// InvertCholesky sets the upper triangle of w, n x n and row-major, to the transposed inverse of
// the factor that Cholesky has left in l. Row j of w has column j of the inverse, from the diagonal
// on. It does not touch the rest of w.
func InvertCholesky(w, l []float64, n int) {
	f, inverse := newTriangle(n), newTriangle(n)
	defer f.release()
	defer inverse.release()
	f.pack(l)
	clear(f.inverse)
	for j := range n {
		f.inverse[j] = 1 / l[j*n+j]
	}
	inverse.invert(f)
	for j := range n {
		from := j &^ (strip - 1)
		x := inverse.columns(from)[j-from:]
		for i := j; i < n; i++ {
			w[j*n+i] = x[(i-from)*strip]
		}
	}
}

// columns returns the panel of an inverse that begins with column j. It is stored in the panel of
// the same size, which is as far from the last one as column j is from the first.
func (t *triangle) columns(j int) []float64 {
	return t.panel((Panels(t.n, strip)-1)*strip - j)
}

// invert sets t to the inverse of the factor f, stored by columns.
func (t *triangle) invert(f *triangle) {
	n := f.n
	for from := 0; from < n; from += side * strip {
		for i := from; i < n; i += strip {
			for j := from; j <= min(i, from+(side-1)*strip); j += strip {
				x := t.columns(j)
				square := x[(i-j)*strip : (i-j+strip)*strip]
				clear(square)
				for m := 0; i == j && m < strip; m++ {
					square[m*strip+m] = 1
				}
				eliminate(f.panel(i)[j*strip:], x, i-j, f.inverse[i:])
			}
		}
	}
}

// CholeskySolve sets b to the solution x of L Lᵀ x = b, where l is the factor that Cholesky has
// left.
func CholeskySolve(l []float64, n int, b []float64) {
	if len(l) < n*n || len(b) < n {
		panic("vec: CholeskySolve of slices that do not fit together")
	}
	if n > 0 && !solveVectors(n, l, b) {
		solveGeneric(n, l, b)
	}
}

func solveGeneric(n int, l, b []float64) {
	for i := range n {
		r := l[i*n : i*n+i+1]
		b[i] = (b[i] - Dot(r[:i], b)) / r[i]
	}
	for i := n - 1; i >= 0; i-- {
		r := l[i*n : i*n+i+1]
		b[i] /= r[i]
		Axpy(-b[i], r[:i], b)
	}
}

// MaxEigenvalue returns a lower estimate of the largest eigenvalue of the positive semidefinite
// matrix a, n x n and row-major. It is the Rayleigh quotient after power iterations from a fixed
// random vector. They stop when it grows by less than one part in 10,000, or after 300 iterations.
func MaxEigenvalue(a []float64, n int) float64 {
	start := make([]float32, n)
	NewNormals(Key("eigenvalue", uint64(n), 0)).Fill(start)
	x, y := make([]float64, n), make([]float64, n)
	for i, v := range start {
		x[i] = float64(v)
	}
	norm, last := math.Sqrt(Dot(x, x)), 0.0
	for range 300 {
		for i := range x {
			x[i] /= norm
		}
		for i := range y {
			y[i] = Dot(a[i*n:(i+1)*n], x)
		}
		value := Dot(x, y)
		if norm = math.Sqrt(Dot(y, y)); norm == 0 || value-last <= 1e-4*value {
			return value
		}
		x, y, last = y, x, value
	}
	return last
}

// CholeskySolves is CholeskySolve for each of the 8 columns of b, n x 8 and row-major,
// with the same bits.
func CholeskySolves(l []float64, n int, b []float64) {
	if n < 1 || len(l) < n*n || len(b) != n*strip {
		panic("vec: CholeskySolves of slices that do not fit together")
	}
	if !solvesVectors(n, l, b) {
		solvesGeneric(n, l, b)
	}
}

func solvesGeneric(n int, l, b []float64) {
	for i := range n {
		r := l[i*n : i*n+i+1]
		var lanes [8][strip]float64
		for j, u := range r[:i] {
			x, a := (*[strip]float64)(b[j*strip:]), &lanes[j%8]
			for c, v := range x {
				a[c] += float64(u * v)
			}
		}
		x := (*[strip]float64)(b[i*strip:])
		for c := range x {
			a := func(k int) float64 { return lanes[k][c] }
			x[c] = (x[c] - (((a(0) + a(4)) + (a(2) + a(6))) + ((a(1) + a(5)) + (a(3) + a(7))))) / r[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		r, x := l[i*n:i*n+i+1], (*[strip]float64)(b[i*strip:])
		for c := range x {
			x[c] /= r[i]
		}
		for j, u := range r[:i] {
			y := (*[strip]float64)(b[j*strip:])
			for c, v := range x {
				y[c] -= float64(u * v)
			}
		}
	}
}

// A Ridge factors a symmetric matrix with several diagonals, one after the other.
type Ridge struct{ values, factor, inverse *triangle }

// NewRidge returns a Ridge for the lower triangle of a, n x n and row-major. The diagonal of a is
// ignored.
func NewRidge(a []float64, n int) *Ridge {
	r := &Ridge{newTriangle(n), newTriangle(n), newTriangle(n)}
	r.Set(a)
	return r
}

// Set is NewRidge for another matrix of the same size, in the memory of r.
func (r *Ridge) Set(a []float64) { r.values.pack(a) }

// Release gives the memory of r back. r must not be used afterwards.
func (r *Ridge) Release() {
	for _, t := range []*triangle{r.values, r.factor, r.inverse} {
		t.release()
	}
	*r = Ridge{}
}

// Factor factors the matrix with the given diagonal, like Cholesky. It reports whether the matrix
// is positive definite.
func (r *Ridge) Factor(diagonal []float64) bool {
	f := r.factor
	copy(f.values, r.values.values)
	for i, v := range diagonal[:f.n] {
		f.panel(i)[i*strip+i%strip] = v
	}
	return f.factor()
}

// Lower sets the lower triangle of l, n x n and row-major, to the factor.
func (r *Ridge) Lower(l []float64) { r.factor.unpack(l) }

// InverseDiagonal sets dst to the diagonal of the inverse of the matrix that was factored last.
// Each element is the Dot of a column of the factor's inverse, from the diagonal on, with itself.
func (r *Ridge) InverseDiagonal(dst []float64) {
	n := r.factor.n
	r.inverse.invert(r.factor)
	for from := 0; from < n; from += strip {
		x, rows := r.inverse.columns(from), n-from
		var sums [8][strip]float64 // lane l has the sums of rows l, l+8, ... after from
		for i := squaresVectors(&sums, x, rows); i < rows; i++ {
			sum := &sums[i%8]
			for c, v := range (*[strip]float64)(x[i*strip:]) {
				sum[c] += float64(v * v)
			}
		}
		for c := range min(strip, rows) { // The lanes of column c would begin with row from+c, but their sum is the same.
			a := func(lane int) float64 { return sums[lane][c] }
			dst[from+c] = ((a(0) + a(4)) + (a(2) + a(6))) + ((a(1) + a(5)) + (a(3) + a(7)))
		}
	}
}
