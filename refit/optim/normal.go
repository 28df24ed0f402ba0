package optim

import (
	"context"
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// ErrSingular means that, because of rounding, AᵀWA/n + λ₂I has no Cholesky factor.
var ErrSingular = errors.New("the normal equations have no Cholesky factor: increase lambda")

// NormalEquations are AᵀWA + nλ₂I and its Cholesky factor, with the weights W. Problems of the
// square loss without λ₁ that have the same A, W and λ₂ can share them. To make them costs about
// p/2 multiplications for each element of the matrix; a pass of Solve costs about 4.
type NormalEquations struct {
	a      matrix.Matrix
	l2     float64
	single bool // the products were summed up in float32
	factor []float64
}

// rowsAtOnce is the number of rows of a Gram matrix that are summed up together. The bits of the
// result depend on it.
const rowsAtOnce = 256

// NewNormalEquations returns the normal equations of a. weights has a weight for each row, or is
// nil. When ctx ends while products are summed up, it returns the error of ctx.
func NewNormalEquations(ctx context.Context, a matrix.Matrix, weights []float64, l2 float64) (*NormalEquations, error) {
	gram, err := products(ctx, a, weights)
	if err != nil {
		return nil, err
	}
	n, p := a.Dims()
	for j := range p {
		gram[j*p+j] += float64(float64(n) * l2)
	}
	if !vec.Cholesky(gram, p) {
		return nil, ErrSingular
	}
	_, single := a.(*matrix.Float32)
	return &NormalEquations{a, l2, single, gram}, nil
}

// products returns the lower triangle of AᵀWA.
func products(ctx context.Context, a matrix.Matrix, weights []float64) ([]float64, error) {
	n, p := a.Dims()
	if a, ok := a.(*matrix.Float32); ok {
		return productsFloat32(ctx, a, weights)
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

// productsFloat32 is products with the loops for random features, which sum up in float32 and take
// a tenth of the time.
func productsFloat32(ctx context.Context, a *matrix.Float32, weights []float64) ([]float64, error) {
	n, p := a.Dims()
	elements, factor := a.Elements()
	gram := make([]float64, p*p)
	var scratch vec.Scratch
	part := make([]float32, 0, p*rowsAtOnce)
	for from := 0; from < n; from += rowsAtOnce {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows := elements[from*p : min(from+rowsAtOnce, n)*p]
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
		gram[i] *= factor * factor
	}
	return gram, nil
}

// SolveVector replaces b by the x for which (AᵀWA + nλ₂I)x = b, up to the rounding of the factor.
func (e *NormalEquations) SolveVector(b []float64) { vec.CholeskySolve(e.factor, len(b), b) }

// Solve returns the solution of p with its certificate. p must have the matrix, the weights and the
// λ₂ of e.
func (e *NormalEquations) Solve(p *Problem) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Loss != (loss.Square{}) || p.L1 != 0 {
		return nil, errors.New("normal equations are for the square loss without l1")
	}
	_, columns := e.a.Dims()
	x := make([]float64, columns)
	weighted := p.Targets
	if p.Weights != nil {
		weighted = make([]float64, len(p.Targets))
		for i, b := range p.Targets {
			weighted[i] = p.Weights[i] * b
		}
	}
	matrix.MultiplyTransposed(x, e.a, weighted)
	e.SolveVector(x)
	if e.single {
		e.refine(p, weighted, x)
	}
	s := &Solution{X: x, Reached: true}
	s.Certificate, s.Y = p.Certify(x)
	s.Point = Point{Primal: s.Certificate.Primal, Dual: s.Certificate.Dual}
	s.Trace = []Point{s.Point}
	return s, nil
}

// refinements is the number of refinements of a solution by a factor from sums in float32. They
// bring the relative gap below 1e-14 on spam and kin40k (docs/dspdc.md).
const refinements = 2

// refine removes most of the rounding error of the float32 factor from x: the factor solves for the
// correction, given the residual in float64 (Wilkinson 1963).
func (e *NormalEquations) refine(p *Problem, weighted, x []float64) {
	z, r := make([]float64, len(weighted)), make([]float64, len(x))
	for range refinements {
		matrix.Multiply(z, e.a, x)
		for i, b := range weighted {
			if p.Weights != nil {
				z[i] *= p.Weights[i]
			}
			z[i] = b - z[i]
		}
		matrix.MultiplyTransposed(r, e.a, z)
		for j, v := range x {
			r[j] -= float64(float64(float64(len(z))*e.l2) * v)
		}
		e.SolveVector(r)
		vec.Axpy(1, r, x)
	}
}
