package optim

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// byNorm is DSPDC with one dual and all primal coordinates, which is SPDC, with rows drawn by their
// norms. Section 3 of Yu, Lin and Yang (2015) says that this reduces the complexity, and refers to
// Zhang and Xiao (2015, section 4), whose step sizes are used here. With p_i = 1/(2n) + ‖a_i‖/(2
// Σ‖a‖) and the mean norm R̄,
//
//	τ = √(γ/(nλ))/(4R̄), σ = √(nλ/γ)/(4R̄), θ = 1 - 1/(2n + 4R̄ √(n/(λγ))),
//
// whereas uniform sampling has the largest norm instead of the mean. A row of the weight w counts
// as √w times as long, because w φ(⟨a,x⟩) is as smooth as φ in ⟨√w a,x⟩.
type byNorm struct {
	p           *Problem
	x, y        []float64
	xbar, u     []float64
	change      []float64
	probability []float64
	sums        []float64 // cumulative sums of the probabilities
	r           []float64 // r of the proximal map of each row
	inverseTau  float64
	theta       float64
	generator   *rand.ChaCha8
}

func newByNorm(p *Problem, c Config, x, y []float64) method {
	n, columns := p.A.Dims()
	b := &byNorm{
		p: p, x: x, y: y, xbar: append([]float64(nil), x...), u: make([]float64, columns), change: make([]float64, columns),
		probability: make([]float64, n), sums: make([]float64, n), r: make([]float64, n),
		generator: rand.NewChaCha8(vec.Key("dual by norm", c.Seed, 0)),
	}
	norms, mean := rowNorms(p)
	b.probability = probabilities(norms)
	tau, sigma, theta, _ := byNormSteps(n, mean, p.L2, 1/p.Loss.Smoothness())
	b.inverseTau, b.theta = 1/tau, theta
	sum := 0.0
	for i, q := range b.probability {
		sum += q
		b.sums[i] = sum
		b.r[i] = float64(q*float64(n)) / sigma
		if p.Weights != nil && p.Weights[i] > 0 {
			b.r[i] /= p.Weights[i]
		}
	}
	b.refresh()
	return b
}

// rowNorms returns ‖a_i‖, times √w_i, and their mean.
func rowNorms(p *Problem) (norms []float64, mean float64) {
	norms = matrix.SquaredNorms(p.A)
	for i, s := range norms {
		if p.Weights != nil {
			s *= p.Weights[i]
		}
		norms[i] = math.Sqrt(s)
		mean += norms[i]
	}
	return norms, mean / float64(len(norms))
}

// probabilities returns the probabilities with which rows of these norms are drawn.
func probabilities(norms []float64) []float64 {
	sum := 0.0
	for _, v := range norms {
		sum += v
	}
	p := make([]float64, len(norms))
	for i, v := range norms {
		p[i] = 1 / (2 * float64(len(norms)))
		if sum > 0 {
			p[i] += v / (2 * sum)
		} else {
			p[i] *= 2
		}
	}
	return p
}

// byNormSteps returns the step sizes, and the factor by which a step contracts the weighted squared
// distance to the optimum in expectation.
func byNormSteps(n int, mean, l2, gamma float64) (tau, sigma, theta, contraction float64) {
	root := math.Sqrt(float64(n) * l2 / gamma)
	if mean == 0 {
		mean = 1
	}
	tau, sigma = 1/(4*mean*root), root/(4*mean)
	theta = 1 - 1/(float64(2*float64(n))+float64(4*mean*math.Sqrt(float64(n)/(l2*gamma))))
	return tau, sigma, theta, theta
}

func (b *byNorm) refresh() { matrix.MultiplyTransposed(b.u, b.p.A, b.y) }

func (b *byNorm) iterate() (x, y, ax, aty []float64) { return b.x, b.y, nil, b.u }

func (b *byNorm) step() float64 {
	n := float64(len(b.y))
	i := b.draw()
	score, dual := [1]float64{b.p.A.Dot(i, b.xbar)}, [1]float64{b.y[i]}
	b.p.prox(dual[:], score[:], i, b.r[i])
	d := dual[0] - b.y[i]
	b.y[i] = dual[0]
	clear(b.change)
	b.p.A.Add(b.change, i, d)
	shrink := 1 / (b.p.L2 + b.inverseTau)
	scale := 1 / b.probability[i] // scale of the extrapolation of y
	for j, v := range b.change {
		b.xbar[j] = float64(b.x[j]*b.inverseTau) - (b.u[j]+float64(scale*v))/n
		b.u[j] += v
	}
	b.p.threshold(b.xbar, b.p.L1)
	for j, v := range b.xbar {
		v = float64(v * shrink)
		b.xbar[j] = v + float64(b.theta*(v-b.x[j]))
		b.x[j] = v
	}
	return 1 / n
}

// draw returns a row, drawn with these probabilities.
func (b *byNorm) draw() int {
	const unit = 1.0 / (1 << 53)
	at := float64(b.generator.Uint64()>>11) * unit * b.sums[len(b.sums)-1]
	return min(sort.SearchFloat64s(b.sums, at), len(b.sums)-1)
}
