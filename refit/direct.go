package refit

import (
	"context"
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// ErrSingular is returned where rounding leaves AᵀA/n + λ₂I without a factor.
var ErrSingular = errors.New("the normal equations have no Cholesky factor: lambda is too small for the matrix")

// normal is AᵀWA + nλ₂I and its Cholesky factor, with the weights W: what problems
// of the square loss without λ₁ that share A, W and λ₂ need.
type normal struct {
	a      Matrix
	l2     float64
	rough  bool // the products were summed up in float32
	factor []float64
}

// rowsAtOnce is how many rows of a Gram matrix are summed up in one go, which its
// bits depend on.
const rowsAtOnce = 256

func newNormal(ctx context.Context, a Matrix, weights []float64, l2 float64) (*normal, error) {
	gram, err := products(ctx, a, weights)
	if err != nil {
		return nil, err
	}
	_, rough := a.(*Single)
	return factored(&normal{a, l2, rough, gram})
}

// products is the lower triangle of AᵀWA.
func products(ctx context.Context, a Matrix, weights []float64) ([]float64, error) {
	n, p := a.Dims()
	if single, ok := a.(*Single); ok {
		return roughProducts(ctx, single, weights)
	}
	gram := make([]float64, p*p)
	part := make([]float64, p*rowsAtOnce) // transposed
	row := make([]float64, p)
	for from := 0; from < n; from += rowsAtOnce {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows := min(rowsAtOnce, n-from)
		for i := range rows {
			clear(row)
			root := 1.0
			if weights != nil {
				root = math.Sqrt(weights[from+i])
			}
			a.Add(row, from+i, root)
			for j, v := range row {
				part[j*rowsAtOnce+i] = v
			}
		}
		for j := range p {
			c := part[j*rowsAtOnce : j*rowsAtOnce+rows]
			for k := range j + 1 {
				gram[j*p+k] += vec.Dot(c, part[k*rowsAtOnce:k*rowsAtOnce+rows])
			}
		}
	}
	return gram, nil
}

// roughProducts is products by the kernels for random features, which sum up in
// float32 and take a tenth of the time.
func roughProducts(ctx context.Context, a *Single, weights []float64) ([]float64, error) {
	p := a.p
	gram := make([]float64, p*p)
	var scratch vec.Scratch
	part := make([]float32, 0, p*rowsAtOnce)
	for from := 0; from < a.n; from += rowsAtOnce {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows := a.rows[from*p : min(from+rowsAtOnce, a.n)*p]
		if weights != nil {
			part = append(part[:0], rows...)
			for i := 0; i*p < len(part); i++ {
				root := float32(math.Sqrt(weights[from+i]))
				for j, v := range part[i*p : (i+1)*p] {
					part[i*p+j] = v * root
				}
			}
			rows = part
		}
		vec.Gram(gram, rows, p, &scratch)
	}
	for i := range gram {
		gram[i] *= a.factor * a.factor
	}
	return gram, nil
}

// factored puts the factor in the place of the products.
func factored(e *normal) (*normal, error) {
	n, p := e.a.Dims()
	for j := range p {
		e.factor[j*p+j] += float64(float64(n) * e.l2)
	}
	if !vec.Cholesky(e.factor, p) {
		return nil, ErrSingular
	}
	return e, nil
}

// solve returns the x of p, which has the matrix and the λ₂ of n.
func (n *normal) solve(p *Problem) *Solution {
	_, cols := n.a.Dims()
	x := make([]float64, cols)
	weighted := p.Targets
	if p.Weights != nil {
		weighted = make([]float64, len(p.Targets))
		for i, b := range p.Targets {
			weighted[i] = p.Weights[i] * b
		}
	}
	multiplyTransposed(x, n.a, weighted)
	vec.CholeskySolve(n.factor, cols, x)
	if n.rough {
		n.refine(p, weighted, x)
	}
	s := &Solution{X: x, Reached: true}
	s.Certificate, s.Y = p.Certify(x)
	s.Point = Point{Primal: s.Certificate.Primal, Dual: s.Certificate.Dual}
	s.Trace = []Point{s.Point}
	return s
}

// refine takes away from x most of what the factor's float32 has left in it: the
// factor solves for the difference that the residual in float64 asks for (Wilkinson
// 1963).
func (n *normal) refine(p *Problem, weighted, x []float64) {
	z, r := make([]float64, len(weighted)), make([]float64, len(x))
	for range 2 {
		multiply(z, n.a, x)
		for i, b := range weighted {
			if p.Weights != nil {
				z[i] *= p.Weights[i]
			}
			z[i] = b - z[i]
		}
		multiplyTransposed(r, n.a, z)
		for j, v := range x {
			r[j] -= float64(float64(float64(len(z))*n.l2) * v)
		}
		vec.CholeskySolve(n.factor, len(x), r)
		vec.Axpy(1, r, x)
	}
}

// SolveSquare solves a problem of the square loss without λ₁ by its normal
// equations. That costs about p/2 multiplications for each number of the matrix,
// where a pass of Solve costs about 4.
func SolveSquare(p *Problem) (*Solution, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if p.Loss != (Square{}) || p.L1 != 0 {
		return nil, errors.New("normal equations are for the square loss without l1")
	}
	n, err := newNormal(context.Background(), p.A, p.Weights, p.L2)
	if err != nil {
		return nil, err
	}
	return n.solve(p), nil
}
