package vec

// A Ridge has a symmetric matrix whose diagonal is still to be chosen, and its factor with the
// last diagonal.
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
