package vec

import (
	"math"
	"sync"
)

const (
	strip = 8 // rows of a panel of a triangle
	side  = 4 // panels that are processed together
)

// triangle is the lower triangle of an n x n matrix, in panels of strip rows. A panel is
// [columns][strip], with as many columns as its last row needs.
type triangle struct {
	n       int
	values  []float64
	inverse []float64 // inverse of each diagonal element, for whole panels
}

// panel returns the values from the panel of row i on.
func (t *triangle) panel(i int) []float64 {
	p := i / strip
	return t.values[p*(p+1)/2*strip*strip:]
}

// pack reads the lower triangle of a, row-major. Values above the diagonal are undefined, and rows
// beyond the n-th are 0.
func (t *triangle) pack(a []float64) {
	for i := 0; i < t.n; i += strip {
		p, j := t.panel(i)[:(i+strip)*strip], 0
		if i+strip <= t.n {
			x0, x1, x2, x3 := t.row(a, i, 0), t.row(a, i, 1), t.row(a, i, 2), t.row(a, i, 3)
			x4, x5, x6, x7 := t.row(a, i, 4), t.row(a, i, 5), t.row(a, i, 6), t.row(a, i, 7)
			for j := range i {
				to := (*[strip]float64)(p[j*strip:])
				to[0], to[1], to[2], to[3] = x0[j], x1[j], x2[j], x3[j]
				to[4], to[5], to[6], to[7] = x4[j], x5[j], x6[j], x7[j]
			}
			j = i
		}
		for ; j < i+strip; j++ {
			for l := range strip {
				switch {
				case i+l >= t.n:
					p[j*strip+l] = 0
				case j <= i+l:
					p[j*strip+l] = a[(i+l)*t.n+j]
				}
			}
		}
	}
}

// row returns the part of row i+l of a that is before column i.
func (t *triangle) row(a []float64, i, l int) []float64 { return a[(i+l)*t.n:][:i] }

// unpack writes the values to the lower triangle of a.
func (t *triangle) unpack(a []float64) {
	for i := 0; i < t.n; i += strip {
		p, j := t.panel(i)[:(i+strip)*strip], 0
		if i+strip <= t.n {
			x0, x1, x2, x3 := t.row(a, i, 0), t.row(a, i, 1), t.row(a, i, 2), t.row(a, i, 3)
			x4, x5, x6, x7 := t.row(a, i, 4), t.row(a, i, 5), t.row(a, i, 6), t.row(a, i, 7)
			for j := range i {
				from := (*[strip]float64)(p[j*strip:])
				x0[j], x1[j], x2[j], x3[j] = from[0], from[1], from[2], from[3]
				x4[j], x5[j], x6[j], x7[j] = from[4], from[5], from[6], from[7]
			}
			j = i
		}
		for ; j < i+strip; j++ {
			for l := range strip {
				if i+l < t.n && j <= i+l {
					a[(i+l)*t.n+j] = p[j*strip+l]
				}
			}
		}
	}
}

// factorDiagonal factors the diagonal square that begins at column j. It reports whether there is a
// factor.
func (t *triangle) factorDiagonal(j int) bool {
	a := (*[strip * strip]float64)(t.panel(j)[j*strip:])
	inverse := t.inverse[j : j+strip]
	clear(inverse)
	for c := range min(strip, t.n-j) {
		d := a[c*strip+c]
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		d = math.Sqrt(d)
		a[c*strip+c], inverse[c] = d, 1/d
		for i := c + 1; i < strip; i++ {
			a[c*strip+i] *= inverse[c]
		}
		for l := c + 1; l < strip; l++ {
			for i := l; i < strip; i++ {
				a[l*strip+i] -= float64(a[c*strip+l] * a[c*strip+i])
			}
		}
	}
	return true
}

// eliminate updates the columns k, k+1, ..., k+7 of the panel x: it subtracts the earlier columns
// of x times those of w. If inverse is not nil, it then solves for these columns with the triangle
// that follows in w.
func eliminate(w, x []float64, k int, inverse []float64) {
	w, x = w[:(k+strip)*strip], x[:(k+strip)*strip]
	if inverse != nil {
		inverse = inverse[:strip]
	}
	if !panelVectors(k, w, x, inverse) {
		panelGeneric(k, w, x, inverse)
	}
}

func panelGeneric(k int, w, x, inverse []float64) {
	t := (*[strip * strip]float64)(x[k*strip:])
	for m := range k {
		u, v := (*[strip]float64)(w[m*strip:]), (*[strip]float64)(x[m*strip:])
		for j, u := range u {
			for i, v := range v {
				t[j*strip+i] -= float64(u * v)
			}
		}
	}
	for j, scale := range inverse {
		for i := range strip {
			t[j*strip+i] *= scale
		}
		for l := j + 1; l < strip; l++ {
			u := w[(k+j)*strip+l]
			for i := range strip {
				t[l*strip+i] -= float64(u * t[j*strip+i])
			}
		}
	}
}

// Products sets the lower triangle of p, n x n and row-major, to the products of the rows of x, n x
// dim. They are sums of rounded products, added in order. It does not touch the rest of p.
func Products(p, x []float64, n int) {
	dim := len(x) / n
	size := (dim + strip) * strip // of a panel of rows followed by a tile of products
	packed := make([]float64, Panels(n, strip)*size)
	for i := range n {
		to := packed[i/strip*size+i%strip:]
		for k, v := range x[i*dim : (i+1)*dim] {
			to[k*strip] = v
		}
	}
	for from := 0; from < n; from += side * strip {
		for i := from; i < n; i += strip {
			for j := from; j <= min(i, from+(side-1)*strip); j += strip {
				rows := packed[i/strip*size:][:size]
				t := rows[dim*strip:]
				clear(t)
				eliminate(packed[j/strip*size:], rows, dim, nil)
				for r := i; r < min(i+strip, n); r++ {
					for c := range min(strip, r-j+1) {
						p[r*n+j+c] = -t[c*strip+r-i]
					}
				}
			}
		}
	}
}

// triangles keeps the memory of triangles for later calls: 4 MB for a thousand rows.
var triangles sync.Pool

// newTriangle returns a triangle of n rows with undefined values. The caller must release it.
func newTriangle(n int) *triangle {
	t, _ := triangles.Get().(*triangle)
	if t == nil {
		t = new(triangle)
	}
	p := Panels(n, strip)
	t.n, t.values, t.inverse = n, resize(t.values, p*(p+1)/2*strip*strip), resize(t.inverse, p*strip)
	return t
}

func (t *triangle) release() { triangles.Put(t) }

func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
