package dsg

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
)

// An operator is an estimate of the covariance operator A = C(C + σ²/n)⁻¹ of a Gaussian process by
// doubly stochastic gradients, where C is the covariance of the rows' features: the first method of
// Dai et al. 2014 (section 4 and appendix D). The posterior variance at x is k(x, x) - ⟨k(x, ·), A
// k(x, ·)⟩. A step adds a block to two independent sequences of random features, left and right. A
// is the sum of θ_ij left_i ⊗ right_j over i ≤ j, so that memory grows with the square of the
// number of steps.
type operator struct {
	left, right *features.Bank
	block       int        // features in a block: two for each frequency
	steps       int        // number of steps taken
	theta       *mat.Dense // coefficients of all steps
}

func newOperator(dim, frequencies, steps int, scale float64) *operator {
	bank := func(seed uint64) *features.Bank {
		b := features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: scale}, Dim: dim, BlockSize: frequencies, Seed: seed})
		b.Grow(steps)
		return b
	}
	size := 2 * frequencies * steps
	return &operator{left: bank(11), right: bank(12), block: 2 * frequencies, theta: mat.NewDense(size, size, nil)}
}

// features returns the number of coefficients.
func (o *operator) features() int { return o.steps * (o.steps + 1) / 2 * o.block * o.block }

// of returns the features of the rows of x in n blocks, starting with block from. They are
// normalised so that each block is an unbiased estimate of the kernel.
func (o *operator) of(b *features.Bank, x []float32, from, n int) *mat.Dense {
	rows, size := len(x)/b.Map().Dim, n*o.block
	f := make([]float32, rows*size)
	b.Features(f, from, x)
	z := mat.NewDense(rows, size, nil)
	scale := 1 / math.Sqrt(float64(o.block/2))
	for i, v := range f {
		z.Set(i/size, i%size, float64(v)*scale)
	}
	return z
}

// step takes a step along the gradient AC + σ²A/n - C, estimated on the rows of x. The objective is
// ½⟨A, A(C + σ²/n)⟩ - ⟨A, C⟩, whose minimum is the operator. penalty is σ²/n.
func (o *operator) step(x []float32, rate, penalty float64) {
	t, b := o.steps, o.block
	factor := rate / float64(len(x)/o.left.Map().Dim)
	newest := o.of(o.right, x, t, 1)
	if t > 0 {
		old := o.theta.Slice(0, t*b, 0, t*b).(*mat.Dense)
		var cross mat.Dense
		cross.Mul(o.of(o.right, x, 0, t).T(), newest)
		column := o.theta.Slice(0, t*b, t*b, (t+1)*b).(*mat.Dense)
		column.Mul(old, &cross)
		column.Scale(-factor, column)
		old.Scale(1-rate*penalty, old)
	}
	own := o.theta.Slice(t*b, (t+1)*b, t*b, (t+1)*b).(*mat.Dense)
	own.Mul(o.of(o.left, x, t, 1).T(), newest)
	own.Scale(factor, own)
	o.steps++
}

// variance returns the posterior variance at the rows of x.
func (o *operator) variance(x []float32) (all []float64) {
	size := o.steps * o.block
	theta := o.theta.Slice(0, size, 0, size)
	left, right := o.of(o.left, x, 0, o.steps), o.of(o.right, x, 0, o.steps)
	var half mat.Dense
	half.Mul(left, theta)
	rows, _ := left.Dims()
	for i := range rows {
		all = append(all, 1-mat.Dot(half.RowView(i), right.RowView(i)))
	}
	return all
}

// operate learns the operator of p, and reports its variances after some of the steps.
func (p *process) operate(ctx context.Context, steps, batch, frequencies int, report func(step, features int, variance []float64)) error {
	o := newOperator(p.dim, frequencies, steps, p.scale)
	penalty := p.noise / float64(p.rows)
	first := 1 / (topEigenvalue(p.x, p.dim, p.scale) + 1/float64(batch) + 1/float64(frequencies))
	r := rand.New(rand.NewPCG(6, 6))
	x := make([]float32, batch*p.dim)
	for t := 1; t <= steps; t++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range batch {
			copy(x[i*p.dim:(i+1)*p.dim], p.x[r.IntN(p.rows)*p.dim:])
		}
		o.step(x, first/(1+first*penalty*float64(t)), penalty)
		if t&(t-1) == 0 && t >= 16 || t == steps {
			report(t, o.features(), o.variance(p.test))
		}
	}
	return nil
}
