package matrix

import (
	"math"
	"math/rand/v2"
	"testing"
)

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// near fails the test unless got is want, but for rounding.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// Every Matrix computes what the plain loop over its elements does.
func TestMatricesAreThoseOfTheirElements(t *testing.T) {
	const n, p, d = 7, 5, 3
	rng := rand.New(rand.NewPCG(1, 2))
	dense, u, v := normals(rng, n*p), normals(rng, n*d), normals(rng, p*d)
	single, fromSingle, product := make([]float32, n*p), make([]float64, n*p), make([]float64, n*p)
	for i := range single {
		single[i] = float32(dense[i])
		fromSingle[i] = 0.25 * float64(single[i])
		for k := range d {
			product[i] += u[i/p*d+k] * v[i%p*d+k]
		}
	}
	for name, m := range map[string]struct {
		Matrix
		elements []float64
	}{
		"dense":    {NewDense(n, p, dense), dense},
		"float32":  {NewFloat32(n, p, single, 0.25), fromSingle},
		"factored": {NewFactored(NewDense(n, d, u), NewDense(p, d, v)), product},
	} {
		t.Run(name, func(t *testing.T) {
			if rows, columns := m.Dims(); rows != n || columns != p {
				t.Fatalf("%d × %d, want %d × %d", rows, columns, n, p)
			}
			x, y := normals(rng, p), normals(rng, n)
			y[2] = 0
			ax, aty, squares := make([]float64, n), make([]float64, p), make([]float64, n)
			for i := range n {
				for j := range p {
					a := m.elements[i*p+j]
					ax[i] += a * x[j]
					aty[j] += a * y[i]
					squares[i] += a * a
				}
			}
			got := make([]float64, n)
			Multiply(got, m.Matrix, x)
			near(t, "Multiply", got, ax)
			near(t, "SquaredNorms", SquaredNorms(m.Matrix), squares)
			transposed := normals(rng, p) // is overwritten
			MultiplyTransposed(transposed, m.Matrix, y)
			near(t, "MultiplyTransposed", transposed, aty)
			for i := range n {
				row := make([]float64, p)
				m.Add(row, i, 1)
				near(t, "Add", row, m.elements[i*p:(i+1)*p])
				near(t, "Dot", []float64{m.Dot(i, x)}, ax[i:i+1])
			}
			for j := range p {
				column, want := make([]float64, n), make([]float64, n)
				m.AddColumn(column, j, -2)
				for i := range n {
					want[i] = -2 * m.elements[i*p+j]
				}
				near(t, "AddColumn", column, want)
				near(t, "ColumnDot", []float64{m.ColumnDot(j, y)}, aty[j:j+1])
			}
		})
	}
}
