package matrix

// Float32 is a matrix of float32 elements times a factor, as random features are. It takes half the
// memory of a Dense matrix, and about half the time if memory bandwidth is the limit. Access to its
// columns is slow.
type Float32 struct {
	n, p   int
	rows   []float32
	factor float64
}

// NewFloat32 returns factor times the matrix with the elements rows, n × p and row-major, which it
// keeps. It panics if their number is not n p.
func NewFloat32(n, p int, rows []float32, factor float64) *Float32 {
	if n < 1 || p < 1 || len(rows) != n*p {
		panic("matrix: a dense matrix has n x p elements, at least one")
	}
	return &Float32{n, p, rows, factor}
}

// Elements returns the elements, row-major, which are not a copy, and their factor.
func (a *Float32) Elements() (rows []float32, factor float64) { return a.rows, a.factor }

func (a *Float32) row(i int) []float32 { return a.rows[i*a.p : (i+1)*a.p : (i+1)*a.p] }

func (a *Float32) Dims() (n, p int) { return a.n, a.p }

func (a *Float32) Dot(i int, x []float64) float64 { return float64(a.factor * Dot(a.row(i), x)) }

func (a *Float32) Add(dst []float64, i int, s float64) {
	s *= a.factor
	row := a.row(i)
	dst = dst[:len(row)]
	for j, v := range row {
		dst[j] += float64(s * float64(v))
	}
}

func (a *Float32) ColumnDot(j int, y []float64) float64 {
	var s float64
	for i, v := range y {
		s += float64(v * float64(a.rows[i*a.p+j]))
	}
	return float64(a.factor * s)
}

func (a *Float32) AddColumn(dst []float64, j int, s float64) {
	s *= a.factor
	for i := range dst {
		dst[i] += float64(s * float64(a.rows[i*a.p+j]))
	}
}

// Dot returns the same as vec.Dot, bit for bit, for a row of either precision.
func Dot[T float32 | float64](x []T, y []float64) float64 {
	y = y[:len(x)]
	var a0, a1, a2, a3, a4, a5, a6, a7 float64
	for len(x) >= 8 {
		u, v := (*[8]T)(x), (*[8]float64)(y)
		a0 += float64(float64(u[0]) * v[0])
		a1 += float64(float64(u[1]) * v[1])
		a2 += float64(float64(u[2]) * v[2])
		a3 += float64(float64(u[3]) * v[3])
		a4 += float64(float64(u[4]) * v[4])
		a5 += float64(float64(u[5]) * v[5])
		a6 += float64(float64(u[6]) * v[6])
		a7 += float64(float64(u[7]) * v[7])
		x, y = x[8:], y[8:]
	}
	a := [8]float64{a0, a1, a2, a3, a4, a5, a6, a7}
	for i, u := range x {
		a[i] += float64(float64(u) * y[i])
	}
	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}
