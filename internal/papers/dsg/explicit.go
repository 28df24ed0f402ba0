package dsg

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// explicit maps rows to features that approximate the kernel: random features, or those of
// Nyström's method (Williams and Seeger 2001).
type explicit struct {
	problem
	n  int
	of func(x []float32) []float64 // returns the features of one row
}

func newRandom(p problem, n int) *explicit {
	bank := features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: p.scale}, Dim: p.Dim, BlockSize: n / 2, Seed: 1})
	bank.Grow(1)
	f, z := make([]float32, n), make([]float64, n)
	return &explicit{p, n, func(x []float32) []float64 {
		bank.Features(f, 0, x)
		for i, v := range f {
			z[i] = float64(v) / math.Sqrt(float64(n/2))
		}
		return z
	}}
}

func newNystrom(p problem, n int) *explicit {
	r := rand.New(rand.NewPCG(5, 5))
	var landmarks []float32
	for _, i := range r.Perm(len(p.Y))[:n] {
		landmarks = append(landmarks, p.row(i)...)
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, gaussian(squaredDistance(landmarks, landmarks, i, j, p.Dim), p.scale))
		}
	}
	var e mat.EigenSym
	e.Factorize(k, true)
	var root mat.Dense // K^{-1/2}
	e.VectorsTo(&root)
	for j, v := range e.Values(nil) {
		for i := range n {
			root.Set(i, j, root.At(i, j)/math.Sqrt(max(v, 1e-9)))
		}
	}
	at, z := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	return &explicit{p, n, func(x []float32) []float64 {
		for i := range n {
			at.SetVec(i, gaussian(squaredDistance(x, landmarks, 0, i, p.Dim), p.scale))
		}
		z.MulVec(root.T(), at)
		return z.RawVector().Data
	}}
}

// linearScores returns the scores of a linear function of the features.
func (e *explicit) linearScores(w []float64, x []float32) []float64 {
	f := make([]float64, len(x)/e.Dim)
	for i := range f {
		f[i] = vec.Dot(w, e.of(x[i*e.Dim:(i+1)*e.Dim]))
	}
	return f
}

func (e *explicit) features() int { return e.n }

// pegasos is stochastic subgradient descent with the step size 1/(νt) (Shalev-Shwartz,
// Singer and Srebro 2007), on explicit features.
type pegasos struct {
	*explicit
	w []float64
	t float64
}

func (m *pegasos) learn(i int) {
	if m.w == nil {
		m.w = make([]float64, m.n)
	}
	m.t++
	rate := 1 / (m.penalty * m.t)
	z := m.of(m.row(i))
	slope := hingeSlope(vec.Dot(m.w, z), m.Y[i])
	for j := range m.w {
		m.w[j] = (1-1/m.t)*m.w[j] - rate*slope*z[j]
	}
	if most := 1 / math.Sqrt(m.penalty); vec.Dot(m.w, m.w) > most*most { // project onto the ball that contains the solution
		by := most / math.Sqrt(vec.Dot(m.w, m.w))
		for j := range m.w {
			m.w[j] *= by
		}
	}
}

func (m *pegasos) score(x []float32) []float64 { return m.linearScores(m.w, x) }

// sdca is stochastic dual coordinate ascent on explicit features.
type sdca struct {
	*explicit
	w, alpha []float64
}

func (m *sdca) learn(i int) {
	if m.w == nil {
		m.w, m.alpha = make([]float64, m.n), make([]float64, len(m.Y))
	}
	z, n := m.of(m.row(i)), float64(len(m.Y))
	was := m.alpha[i]
	m.alpha[i] = max(0, min(1, was+(1-m.Y[i]*vec.Dot(m.w, z))*m.penalty*n/max(vec.Dot(z, z), 1e-9)))
	vec.Axpy((m.alpha[i]-was)*m.Y[i]/(m.penalty*n), z, m.w)
}

func (m *sdca) score(x []float32) []float64 { return m.linearScores(m.w, x) }
