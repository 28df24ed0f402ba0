package vec

import (
	"math"
)

// Cholesky puts the lower triangular factor of the symmetric matrix a, n x n and
// row-major, in place of its lower triangle: a = L Lᵀ. It reads and writes no
// more than that triangle. It reports false, and leaves the triangle undefined,
// if a is not positive definite.
//
// From each number the products are subtracted one by one in the order of their
// columns, each rounded, and the difference is multiplied by the inverse of the
// diagonal.
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

// factor puts the factor of a matrix in its place, and reports whether there is one.
func (l *triangle) factor() bool {
	n := l.n
	for from := 0; from < n; from += side * strip {
		end := min(from+side*strip, n)
		for j := 0; j < end; j += strip {
			if j >= from {
				eliminate(l.panel(j), l.panel(j), j, nil)
				if !l.factorDiagonal(j) {
					return false
				}
			}
			for i := max(from, j+strip); i < end; i += strip {
				eliminate(l.panel(j), l.panel(i), j, l.inverse[j:])
			}
		}
	}
	return true
}

// InvertCholesky sets the upper triangle of w, n x n and row-major, to the
// transposed inverse of the factor that Cholesky left in l: its row j has
// column j of the inverse, from the diagonal on. The rest of w is not touched.
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

// columns returns the columns from j on of an inverse, which are as long as the panel that is
// as far from the last.
func (t *triangle) columns(j int) []float64 {
	return t.panel((Panels(t.n, strip)-1)*strip - j)
}

// invert sets t to the inverse of the factor f, in columns.
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

// CholeskySolve sets b to the solution x of L Lᵀ x = b, with the factor that
// Cholesky left in l.
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

// MaxEigenvalue returns an estimate from below of the largest eigenvalue of the
// positive semidefinite matrix a, n x n and row-major: the Rayleigh quotient after
// power iterations from a fixed random vector, until it grows by less than one
// part in 10,000, or after 300 iterations.
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

// A Ridge factors a symmetric matrix with one diagonal after another.
type Ridge struct{ values, factor, inverse *triangle }

// NewRidge returns one with the lower triangle of a, n x n and row-major, without its diagonal.
func NewRidge(a []float64, n int) *Ridge {
	r := &Ridge{newTriangle(n), newTriangle(n), newTriangle(n)}
	r.Set(a)
	return r
}

// Set is NewRidge in the memory of r, for a matrix of as many rows.
func (r *Ridge) Set(a []float64) { r.values.pack(a) }

// Release gives the memory of r back, which is not to be used any more.
func (r *Ridge) Release() {
	for _, t := range []*triangle{r.values, r.factor, r.inverse} {
		t.release()
	}
	*r = Ridge{}
}

// Factor factors the matrix with a diagonal, like Cholesky, and reports whether it is positive
// definite.
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

// InverseDiagonal sets dst to the diagonal of the inverse of the matrix that was factored: the
// Dot of each column of the factor's inverse, from the diagonal on, with itself.
func (r *Ridge) InverseDiagonal(dst []float64) {
	n := r.factor.n
	r.inverse.invert(r.factor)
	for from := 0; from < n; from += strip {
		x, rows := r.inverse.columns(from), n-from
		var sums [8][strip]float64 // of rows 0, 8, ... after from, of rows 1, 9, ..., and so on
		for i := squaresVectors(&sums, x, rows); i < rows; i++ {
			sum := &sums[i%8]
			for c, v := range (*[strip]float64)(x[i*strip:]) {
				sum[c] += float64(v * v)
			}
		}
		for c := range min(strip, rows) { // whose lanes begin with row from+c: their sum is the same
			a := func(lane int) float64 { return sums[lane][c] }
			dst[from+c] = ((a(0) + a(4)) + (a(2) + a(6))) + ((a(1) + a(5)) + (a(3) + a(7)))
		}
	}
}
