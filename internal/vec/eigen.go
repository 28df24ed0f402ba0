package vec

import "math"

// Eigen sets values to the eigenvalues of the symmetric matrix a, n x n and row-major, in ascending
// order. It sets the rows of vectors, n x n, to orthonormal eigenvectors. It reads the lower
// triangle of a, and overwrites a. It returns false if it does not converge, which happens only
// with numbers that are not finite.
//
// Householder reflections make the matrix tridiagonal, and QL steps with implicit shifts make it
// diagonal (Martin, Reinsch and Wilkinson 1968; Dubrulle 1970).
func Eigen(values, vectors, a []float64, n int) bool {
	if n < 1 || len(values) != n || len(vectors) != n*n || len(a) != n*n {
		panic("vec: Eigen of slices that do not fit together")
	}
	unit := 0.0
	for i := range n {
		for _, v := range a[i*n : i*n+i+1] {
			unit = max(unit, math.Abs(v))
		}
	}
	_, exponent := math.Frexp(unit)
	// Dividing by a power of two changes no bit of a significand, and squares neither underflow nor
	// overflow.
	unit = math.Ldexp(1, max(-1000, min(exponent, 1000)))
	for i := range a {
		a[i] /= unit
	}
	e := make([]float64, n) // e[i] is the element of T in row i, column i-1
	tridiagonal(values, e, vectors, a, n)
	if !diagonal(values, e, vectors, n) {
		return false
	}
	for i := range values {
		values[i] *= unit
	}
	for i := range n { // n exchanges at most
		least := i
		for j := i + 1; j < n; j++ {
			if values[j] < values[least] {
				least = j
			}
		}
		if least != i {
			values[i], values[least] = values[least], values[i]
			x, y := vectors[i*n:(i+1)*n], vectors[least*n:(least+1)*n]
			for k := range x {
				x[k], y[k] = y[k], x[k]
			}
		}
	}
	return true
}

// tridiagonal transforms a to the tridiagonal matrix T, with the diagonal d and the subdiagonal e.
// It sets q to the transformation: a = qᵀ T q.
func tridiagonal(d, e, q, a []float64, n int) {
	h := make([]float64, n) // half the squared norm of each reflection's vector; 0 without a reflection
	p := make([]float64, n)
	for i := n - 1; i > 0; i-- {
		v := a[i*n : i*n+i] // the reflection maps v to e[i] in its last coordinate
		d[i], e[i] = a[i*n+i], v[i-1]
		rest := Dot(v[:i-1], v)
		if rest == 0 {
			continue
		}
		norm := math.Sqrt(rest + float64(v[i-1]*v[i-1]))
		if v[i-1] > 0 {
			norm = -norm
		}
		e[i] = norm
		h[i] = rest + float64(v[i-1]*v[i-1]) - float64(v[i-1]*norm)
		v[i-1] -= norm

		p := p[:i] // first a v / h, then the update of both sides
		clear(p)
		for j := range i {
			row := a[j*n : j*n+j+1]
			p[j] += Dot(row, v)
			Axpy(v[j], row[:j], p)
		}
		for j := range p {
			p[j] /= h[i]
		}
		Axpy(-Dot(v, p)/(2*h[i]), v, p)
		for j := range i {
			row := a[j*n : j*n+j+1]
			Axpy(-v[j], p[:j+1], row)
			Axpy(-p[j], v[:j+1], row)
		}
	}
	d[0] = a[0]
	clear(q)
	for i := range n {
		q[i*n+i] = 1
		if h[i] == 0 {
			continue
		}
		v := a[i*n : i*n+i]
		for j := range i {
			row := q[j*n : j*n+i]
			Axpy(-Dot(row, v)/h[i], v, row)
		}
	}
}

// diagonal transforms T to the diagonal matrix d by rotations, and applies the same rotations to
// the rows of q.
func diagonal(d, e, q []float64, n int) bool {
	const epsilon = 0x1p-53
	copy(e, e[1:])
	e[n-1] = 0
	for l := range n {
		for turns := 0; ; turns++ {
			m := l
			for m < n-1 && !(math.Abs(e[m]) <= epsilon*(math.Abs(d[m])+math.Abs(d[m+1]))) {
				m++
			}
			if m == l {
				break
			}
			if turns == 60 {
				return false
			}
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = d[m] - d[l] + e[l]/(g+math.Copysign(length(g, 1), g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := float64(s*e[i]), float64(c*e[i])
				r := length(f, g)
				e[i+1] = r
				if r == 0 {
					d[i+1] -= p
					e[m] = 0
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*s) + float64(2*c*b)
				p = float64(s * r)
				d[i+1] = g + p
				g = float64(c*r) - b
				rotate(q[i*n:(i+1)*n], q[(i+1)*n:(i+2)*n], c, s)
			}
			if i >= l {
				continue
			}
			d[l] -= p
			e[l] = g
			e[m] = 0
		}
	}
	return !math.IsNaN(Dot(d, d))
}

// length returns the square root of x*x + y*y without overflow.
func length(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if y == 0 {
		return x
	}
	y /= x
	return float64(x * math.Sqrt(1+float64(y*y)))
}

// rotate sets x[i], y[i] = c*x[i] - s*y[i], s*x[i] + c*y[i], each product rounded.
func rotate(x, y []float64, c, s float64) {
	if n := len(x) &^ 7; n >= 16 && rotateVectors(x[:n], y, c, s) {
		x, y = x[n:], y[n:]
	}
	for i, u := range x {
		v := y[i]
		x[i] = float64(c*u) - float64(s*v)
		y[i] = float64(s*u) + float64(c*v)
	}
}
