package optim

import (
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// sdca is stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013), in its proximal form:
// x is the gradient of g* at -Aᵀy/n, and each y_i that is drawn maximises a lower bound of D that
// holds for any set of coordinates.
type sdca struct {
	p     *Problem
	x, y  []float64
	u     []float64 // Aᵀy
	r     []float64 // m ‖A_i‖² / (λ₂n)
	delta []float64
	rows  *sampler

	left, right   *matrix.Dense // A = left rightᵀ, or nil
	inner, change []float64     // Vx, and the change of Uᵀy
	score, dual   [1]float64
}

func newSDCA(p *Problem, c Config, y []float64) method {
	n, columns := p.A.Dims()
	s := &sdca{
		p: p, x: make([]float64, columns), y: y, u: make([]float64, columns), r: matrix.SquaredNorms(p.A),
		delta: make([]float64, c.Dual), rows: newSampler("dual", c.Seed, n, c.Dual),
	}
	s.rows.shuffle = c.Shuffle
	for i, square := range s.r {
		s.r[i] = float64(c.Dual) * square / (p.L2 * float64(n))
	}
	if a, ok := p.A.(*matrix.Factored); ok {
		var d int
		s.left, s.right, d = a.Factors()
		s.inner, s.change = make([]float64, d), make([]float64, d)
	}
	s.refresh()
	return s
}

func (s *sdca) refresh() {
	matrix.MultiplyTransposed(s.u, s.p.A, s.y)
	s.updatePrimal()
}

// updatePrimal sets x to the best x for y.
func (s *sdca) updatePrimal() {
	n := float64(len(s.y))
	for j, u := range s.u {
		s.x[j] = -u / n
	}
	s.p.threshold(s.x, s.p.L1)
	for j := range s.x {
		s.x[j] /= s.p.L2
	}
}

func (s *sdca) iterate() (x, y, ax, aty []float64) { return s.x, s.y, nil, s.u }

func (s *sdca) step() float64 {
	rows := s.rows.draw()
	a, x, u := s.p.A, s.x, s.u
	if s.left != nil { // once through V, instead of once for every row
		a, x, u = s.left, s.inner, s.change
		matrix.MultiplyTransposed(x, s.right, s.x)
		clear(u)
	}
	for k, i := range rows {
		s.score[0], s.dual[0] = a.Dot(i, x), s.y[i]
		s.p.prox(s.dual[:], s.score[:], i, s.r[i])
		s.delta[k] = s.dual[0] - s.y[i]
	}
	for k, i := range rows {
		if d := s.delta[k]; d != 0 {
			s.y[i] += d
			a.Add(u, i, d)
		}
	}
	if s.left != nil {
		for j := range s.u {
			s.u[j] += s.right.Dot(j, u)
		}
	}
	s.updatePrimal()
	return float64(len(rows)) / float64(len(s.y))
}
