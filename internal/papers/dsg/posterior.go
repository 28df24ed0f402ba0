package dsg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
)

// PosteriorReport compares approximations of the posterior of a Gaussian process with
// the closed form, on the problem of section 7.2.
type PosteriorReport struct {
	Rows      int              `json:"rows"`
	Deviation float64          `json:"deviation"` // of the posterior mean over the test points
	Variance  float64          `json:"variance"`  // mean posterior variance
	Methods   []PosteriorError `json:"methods"`
}

// PosteriorError is the root mean square of the errors of one approximation.
type PosteriorError struct {
	Method   string  `json:"method"`
	Features int     `json:"features"` // or coefficients of the covariance operator
	Mean     float64 `json:"mean"`     // 0 if the method does not give a mean
	Variance float64 `json:"variance"`
	Seconds  float64 `json:"seconds"` // of processor time
}

// process is a Gaussian process with noise: training rows, and points to predict.
type process struct {
	dim      int
	scale    float64 // of the Gaussian kernel
	noise    float64 // variance of the labels around the function
	x, test  []float32
	y        []float64
	rows, at int // numbers of training rows and of points
}

// newProcess returns the problem of section 7.2. The paper has 2,048 rows.
func newProcess(rows, points int) *process {
	r := rand.New(rand.NewPCG(3, 3))
	p := &process{dim: 2, noise: 0.1, rows: rows, at: points}
	p.x, p.y = sample(r, rows, nil, nil)
	p.test, _ = sample(r, points, nil, nil)
	p.scale = medianDistance(p.x, 2)
	return p
}

// kernel returns the kernel matrix of the rows of a and the rows of b.
func (p *process) kernel(a, b []float32) *mat.Dense {
	n, m := len(a)/p.dim, len(b)/p.dim
	k := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			k.Set(i, j, gaussian(squaredDistance(a, b, i, j, p.dim), p.scale))
		}
	}
	return k
}

var errIllConditioned = errors.New("the equations of a Gaussian process are ill-conditioned")

// exact returns the mean and the variance of the function at the points in closed form
// (Rasmussen and Williams 2006, algorithm 2.1).
func (p *process) exact() (mean, variance []float64, err error) {
	k := p.kernel(p.x, p.x)
	a := mat.NewSymDense(p.rows, nil)
	for i := range p.rows {
		for j := i; j < p.rows; j++ {
			a.SetSym(i, j, k.At(i, j))
		}
		a.SetSym(i, i, k.At(i, i)+p.noise)
	}
	return p.posterior(a, p.kernel(p.x, p.test), mat.NewVecDense(p.rows, p.y), 1)
}

// posterior returns cᵀA⁻¹b and prior - cᵀA⁻¹c for each column c of cross.
func (p *process) posterior(a mat.Symmetric, cross *mat.Dense, b mat.Vector, prior float64) (mean, variance []float64, err error) {
	var l mat.Cholesky
	if !l.Factorize(a) {
		return nil, nil, errIllConditioned
	}
	var weights mat.VecDense
	var solved mat.Dense
	if err := errors.Join(l.SolveVecTo(&weights, b), l.SolveTo(&solved, cross)); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errIllConditioned, err)
	}
	for j := range p.at {
		mean = append(mean, mat.Dot(cross.ColView(j), &weights))
		variance = append(variance, prior-mat.Dot(cross.ColView(j), solved.ColView(j)))
	}
	return mean, variance, nil
}

// functional returns the posterior mean by gradients of the objective in the space of the kernel,
// without random features. It uses conjugate gradients for the coefficients at the rows, until they
// no longer change.
func (p *process) functional() []float64 {
	k := p.kernel(p.x, p.x)
	alpha, r := mat.NewVecDense(p.rows, nil), mat.VecDenseCopyOf(mat.NewVecDense(p.rows, p.y))
	d, ad := mat.VecDenseCopyOf(r), new(mat.VecDense)
	for rr, first := mat.Dot(r, r), mat.Dot(r, r); rr > 1e-26*first; {
		ad.MulVec(k, d)
		ad.AddScaledVec(ad, p.noise, d)
		step := rr / mat.Dot(d, ad)
		alpha.AddScaledVec(alpha, step, d)
		r.AddScaledVec(r, -step, ad)
		next := mat.Dot(r, r)
		d.AddScaledVec(r, next/rr, d)
		rr = next
	}
	var mean mat.VecDense
	mean.MulVec(p.kernel(p.x, p.test).T(), alpha)
	return mean.RawVector().Data
}

// linear returns the posterior of a linear model on n random features, which is the model of the
// learner's algorithm ridge.
func (p *process) linear(n int, seed uint64) (mean, variance []float64, err error) {
	bank := features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: p.scale}, Dim: p.dim, BlockSize: n, Seed: seed})
	bank.Grow(1)
	of := func(x []float32) *mat.Dense {
		rows := len(x) / p.dim
		f := make([]float32, rows*2*n)
		bank.Features(f, 0, x)
		z := mat.NewDense(rows, 2*n, nil)
		for i, v := range f {
			z.Set(i/(2*n), i%(2*n), float64(v)/math.Sqrt(float64(n)))
		}
		return z
	}
	z, at := of(p.x), of(p.test)
	var gram mat.SymDense
	gram.SymOuterK(1, z.T())
	for i := range 2 * n {
		gram.SetSym(i, i, gram.At(i, i)+p.noise)
	}
	var b mat.VecDense
	b.MulVec(z.T(), mat.NewVecDense(p.rows, p.y))
	var cross mat.Dense
	cross.CloneFrom(at.T())
	mean, variance, err = p.posterior(&gram, &cross, &b, 0)
	for i := range variance {
		variance[i] *= -p.noise // σ²zᵀA⁻¹z
	}
	return mean, variance, err
}

// doubly computes the posterior mean by doubly stochastic gradients, and the variance by the
// paper's second method. For each point t the variance is k(t, t) - f(t), where f is the ridge
// regression of k(·, t), which is the mean for the labels k(·, t). It reports both after some of
// the steps.
func (p *process) doubly(ctx context.Context, steps, batch, block int, report func(step, features int, mean, variance []float64)) error {
	penalty := p.noise / float64(p.rows)
	first := 1 / (topEigenvalue(p.x, p.dim, p.scale) + 1/float64(batch) + 1/float64(block))
	scores := 1 + p.at // the labels, and the kernel at each point
	g := newGradient(p.dim, block, scores, p.scale, 1)
	r := rand.New(rand.NewPCG(4, 4))
	kernel := p.kernel(p.x, p.test)
	x, rows := make([]float32, batch*p.dim), make([]int, batch)
	var f []float64
	for t := 1; t <= steps; t++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range rows {
			rows[i] = r.IntN(p.rows)
			copy(x[i*p.dim:(i+1)*p.dim], p.x[rows[i]*p.dim:])
		}
		g.step(x, batch, first/(1+first*penalty*float64(t)), penalty, func(f []float64) {
			for i, row := range rows {
				f[i*scores] -= p.y[row]
				for j := range p.at {
					f[i*scores+1+j] -= kernel.At(row, j)
				}
			}
		})
		if t&(t-1) != 0 && t != steps || t < 16 {
			continue
		}
		f = g.predict(f, g.mean, p.test, p.at)
		mean, variance := make([]float64, p.at), make([]float64, p.at)
		for j := range p.at {
			mean[j], variance[j] = f[j*scores], 1-f[j*scores+1+j]
		}
		report(t, g.features(), mean, variance)
	}
	return nil
}

// posteriors runs the approximations and compares them with the closed form.
func posteriors(ctx context.Context, p *process, steps int, clock func() float64, progress func(string)) (*PosteriorReport, error) {
	progress("section 7.2: closed form")
	from := clock()
	mean, variance, err := p.exact()
	if err != nil {
		return nil, err
	}
	r := &PosteriorReport{Rows: p.rows}
	r.Deviation = math.Sqrt(meanSquare(mean, make([]float64, p.at)))
	for _, v := range variance {
		r.Variance += v / float64(p.at)
	}
	add := func(method string, features int, m, v []float64) {
		e := PosteriorError{Method: method, Features: features, Seconds: clock() - from}
		if m != nil {
			e.Mean = math.Sqrt(meanSquare(m, mean))
		}
		if v != nil {
			e.Variance = math.Sqrt(meanSquare(v, variance))
		}
		r.Methods = append(r.Methods, e)
	}
	add("closed form", 0, mean, variance)
	from = clock()
	add("gradients without random features", 0, p.functional(), nil)
	for _, n := range []int{32, 128, 512} {
		progress(fmt.Sprintf("section 7.2: ridge with %d features", n))
		from = clock()
		m, v, err := p.linear(n, 1)
		if err != nil {
			return nil, err
		}
		add("ridge", 2*n, m, v)
	}
	from = clock()
	err = p.doubly(ctx, steps, 64, 512, func(step, features int, m, v []float64) {
		progress(fmt.Sprintf("section 7.2: doubly stochastic gradients, step %d of %d", step, steps))
		add(fmt.Sprintf("doubly stochastic, second method, %d steps", step), features, m, v)
	})
	if err != nil {
		return nil, err
	}
	from = clock()
	err = p.operate(ctx, min(steps, 128), 256, 16, func(step, features int, v []float64) {
		progress(fmt.Sprintf("section 7.2: covariance operator, step %d", step))
		add(fmt.Sprintf("doubly stochastic, first method, %d steps", step), features, nil, v)
	})
	return r, err
}
