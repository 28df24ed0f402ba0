package vec

import "math"

// group is how many rows of a triangle are worked on together, so that the rest
// of it is read once for all of them.
const group = 8

// Cholesky puts the lower triangular factor of the symmetric matrix a, n x n and
// row-major, in place of its lower triangle: a = L Lᵀ. It reads and writes no
// more than that triangle. It reports false, and leaves the triangle undefined,
// if a is not positive definite.
func Cholesky(a []float64, n int) bool {
	for from := 0; from < n; from += group {
		to := min(from+group, n)
		for j := range from {
			c := a[j*n : j*n+j+1]
			for i := from; i < to; i++ {
				r := a[i*n : i*n+j+1]
				r[j] = (r[j] - Dot(c[:j], r)) / c[j]
			}
		}
		for i := from; i < to; i++ {
			r := a[i*n : i*n+i+1]
			for j := from; j < i; j++ {
				c := a[j*n : j*n+j+1]
				r[j] = (r[j] - Dot(c[:j], r)) / c[j]
			}
			d := r[i] - Dot(r[:i], r)
			if !(d > 0) || math.IsInf(d, 1) {
				return false
			}
			r[i] = math.Sqrt(d)
		}
	}
	return true
}

// InvertCholesky sets the upper triangle of w, n x n and row-major, to the
// transposed inverse of the factor that Cholesky left in l: its row j has
// column j of the inverse, from the diagonal on. The rest of w is left as it is.
func InvertCholesky(w, l []float64, n int) {
	for from := 0; from < n; from += group {
		to := min(from+group, n)
		for i := from; i < n; i++ {
			r := l[i*n : i*n+i+1]
			for j := from; j < min(to, i); j++ {
				c := w[j*n : (j+1)*n]
				c[i] = -Dot(r[j:i], c[j:i]) / r[i]
			}
			if i < to {
				w[i*n+i] = 1 / r[i]
			}
		}
	}
}

// CholeskySolve sets b to the solution x of L Lᵀ x = b, with the factor that
// Cholesky left in l.
func CholeskySolve(l []float64, n int, b []float64) {
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

// MaxEigenvalue is an estimate from below of the greatest eigenvalue of the
// positive semidefinite matrix a, n x n and row-major: the quotient of Rayleigh
// after power iterations from a fixed random vector, until it grows by less
// than one part in 10,000, or after 300.
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
