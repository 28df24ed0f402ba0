package refit

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// eigen returns the eigenvalues of the symmetric matrix a, d x d and row-major,
// in no order, and sets row k of a to the eigenvector of value k. It is Householder's
// reduction to three diagonals followed by the QL iteration with implicit shifts
// (Bowdler, Martin, Reinsch and Wilkinson 1968), with every sum in a fixed order:
// gonum's comes from kernels whose roundings depend on the machine.
func eigen(a []float64, d int) []float64 {
	value, off := make([]float64, d), make([]float64, d)
	scale := make([]float64, d) // of the reflections: a row of a holds a vector each
	row := func(i int) []float64 { return a[i*d : (i+1)*d : (i+1)*d] }
	w := make([]float64, d)
	for i := d - 1; i > 0; i-- {
		// Reflect what is left of the diagonal in row i onto its last element.
		u := row(i)[:i]
		off[i] = u[i-1]
		var rest float64
		for _, v := range u[:i-1] {
			rest = max(rest, math.Abs(v))
		}
		if rest == 0 {
			continue
		}
		norm := length(u)
		if u[i-1] > 0 {
			norm = -norm
		}
		off[i] = norm
		u[i-1] -= norm
		// In units of its greatest element u has a square that is neither lost nor infinite.
		unit := max(rest, math.Abs(u[i-1]))
		for k := range u {
			u[k] /= unit
		}
		scale[i] = 2 / vec.Dot(u, u)
		// B <- B - u wᵀ - w uᵀ on the first i rows and columns, all of which are kept.
		for k := range i {
			w[k] = scale[i] * vec.Dot(row(k)[:i], u)
		}
		vec.Axpy(-scale[i]/2*vec.Dot(w[:i], u), u, w[:i])
		for k := range i {
			vec.Axpy(-u[k], w[:i], row(k)[:i])
			vec.Axpy(-w[k], u, row(k)[:i])
		}
	}
	for i := range d {
		value[i] = a[i*d+i]
	}
	// q has the product of the reflections, transposed: ql turns its rows into the vectors.
	q := make([]float64, d*d)
	for i := range d {
		q[i*d+i] = 1
	}
	for i := 1; i < d; i++ {
		if scale[i] == 0 {
			continue
		}
		u := row(i)[:i]
		for k := range i {
			r := q[k*d : k*d+i]
			vec.Axpy(-scale[i]*vec.Dot(u, r), u, r)
		}
	}
	ql(value, off, q)
	copy(a, q)
	return value
}

// ql makes a tridiagonal matrix diagonal, whose off-diagonal elements are off[1:],
// and turns the rows of q along.
func ql(value, off, q []float64) {
	d := len(value)
	copy(off, off[1:])
	off[d-1] = 0
	for l := range d {
		for range 60 {
			m := l
			for ; m < d-1; m++ {
				if s := math.Abs(value[m]) + math.Abs(value[m+1]); s+math.Abs(off[m]) == s {
					break
				}
			}
			if m == l {
				break
			}
			g := (value[l+1] - value[l]) / (2 * off[l])
			r := hypot(g, 1)
			g = value[m] - value[l] + off[l]/(g+math.Copysign(r, g))
			sin, cos, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := float64(sin*off[i]), float64(cos*off[i])
				r = hypot(f, g)
				off[i+1] = r
				if r == 0 {
					value[i+1] -= p
					off[m] = 0
					break
				}
				sin, cos = f/r, g/r
				g = value[i+1] - p
				r = float64((value[i]-g)*sin) + float64(2*cos*b)
				p = float64(sin * r)
				value[i+1] = g + p
				g = float64(cos*r) - b
				rotate(q[i*d:(i+1)*d], q[(i+1)*d:(i+2)*d], cos, sin)
			}
			if r == 0 && i >= l {
				continue
			}
			value[l] -= p
			off[l], off[m] = g, 0
		}
	}
}

func rotate(x, y []float64, cos, sin float64) {
	y = y[:len(x)]
	for k, u := range x {
		v := y[k]
		y[k] = float64(sin*u) + float64(cos*v)
		x[k] = float64(cos*u) - float64(sin*v)
	}
}

// hypot is √(x²+y²), which math's is too, but not with the same bits everywhere.
func hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if x == 0 {
		return 0
	}
	y /= x
	return float64(x * math.Sqrt(1+float64(y*y)))
}

// length is ‖x‖, of numbers of any size.
func length(x []float64) float64 {
	var unit float64
	for _, v := range x {
		unit = max(unit, math.Abs(v))
	}
	if unit == 0 {
		return 0
	}
	var s float64
	for _, v := range x {
		s += float64((v / unit) * (v / unit))
	}
	return float64(unit * math.Sqrt(s))
}

// project sets the symmetric matrix a, d x d, to the nearest positive semidefinite
// one in the Frobenius norm: without the eigenvalues that are below 0. Of those
// above and those below, it is the fewer that are added up or taken away. It
// returns the squared norm of the result.
func project(a []float64, d int) float64 {
	vectors := append([]float64(nil), a...)
	values := eigen(vectors, d)
	negative, norm := 0, 0.0
	for _, v := range values {
		if v < 0 {
			negative++
		} else {
			norm += float64(v * v)
		}
	}
	if negative == 0 {
		return norm
	}
	sign := -1.0
	if 2*negative > d {
		clear(a)
		sign = 1
	}
	for k, v := range values {
		if sign*v <= 0 {
			continue
		}
		u := vectors[k*d : (k+1)*d]
		for i, w := range u {
			vec.Axpy(math.Abs(v)*w, u[:i+1], a[i*d:i*d+i+1])
		}
	}
	for i := range d {
		for j := range i {
			a[j*d+i] = a[i*d+j]
		}
	}
	return norm
}
