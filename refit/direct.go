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
	factor []float64
}

// rowsAtOnce is how many rows of a Gram matrix are summed up in one go, which its
// bits depend on.
const rowsAtOnce = 256

func newNormal(ctx context.Context, a Matrix, weights []float64, l2 float64) (*normal, error) {
	n, p := a.Dims()
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
	for j := range p {
		gram[j*p+j] += float64(float64(n) * l2)
	}
	if !vec.Cholesky(gram, p) {
		return nil, ErrSingular
	}
	return &normal{a, gram}, nil
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
	s := &Solution{X: x, Reached: true}
	s.Certificate, s.Y = p.Certify(x)
	s.Point = Point{Primal: s.Certificate.Primal, Dual: s.Certificate.Dual}
	s.Trace = []Point{s.Point}
	return s
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
