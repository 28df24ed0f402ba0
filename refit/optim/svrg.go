package optim

import (
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

const (
	svrgRate  = 0.1 // step size times L, in the range of 0.1 to 1 of Xiao and Zhang's experiments
	svrgStage = 2   // steps of a stage, as a multiple of n, as in their experiments
)

// svrg is the stochastic variance reduced gradient (Johnson and Zhang 2013), with the proximal map
// of Xiao and Zhang (2014). L is the largest ‖A_i‖²/γ. The dual vector y has the derivatives of the
// losses at x.
type svrg struct {
	p     *Problem
	rate  float64
	x, y  []float64
	mean  []float64 // mean gradient at the beginning of the stage
	slow  []float64 // φ' at the beginning of the stage
	g     []float64
	steps int // steps made in the stage
	rows  *sampler
	slope [1]float64
}

func newSVRG(p *Problem, c Config, x []float64) method {
	n, columns := p.A.Dims()
	s := &svrg{
		p: p, x: x, y: make([]float64, n), mean: make([]float64, columns), slow: make([]float64, n),
		g: make([]float64, columns), rows: newSampler("dual", c.Seed, n, 1),
	}
	s.rows.shuffle = c.Shuffle
	greatest, _ := Scale(p.A, columns, 1)
	s.rate = svrgRate * p.gamma() / greatest
	return s
}

func (s *svrg) refresh() {}

// derivatives sets y to φ'(Ax).
func (s *svrg) derivatives(y []float64) {
	matrix.Multiply(y, s.p.A, s.x)
	for i := range y {
		s.p.gradient(y[i:i+1], y[i:i+1], i)
	}
}

func (s *svrg) iterate() (x, y, ax, aty []float64) {
	s.derivatives(s.y)
	return s.x, s.y, nil, nil
}

func (s *svrg) step() float64 {
	n := len(s.y)
	s.steps++
	if s.steps == 1 {
		s.derivatives(s.slow)
		matrix.MultiplyTransposed(s.mean, s.p.A, s.slow)
		for j := range s.mean {
			s.mean[j] /= float64(n)
		}
		return 1
	}
	if s.steps > svrgStage*n {
		s.steps = 0
	}
	i := s.rows.draw()[0]
	copy(s.g, s.mean)
	s.slope[0] = s.p.A.Dot(i, s.x)
	s.p.gradient(s.slope[:], s.slope[:], i)
	s.p.A.Add(s.g, i, s.slope[0]-s.slow[i])
	shrink, l1 := 1/(1+float64(s.rate*s.p.L2)), float64(s.rate*s.p.L1)
	for j, g := range s.g {
		s.x[j] -= float64(s.rate * g)
	}
	s.p.threshold(s.x, l1)
	for j := range s.x {
		s.x[j] *= shrink
	}
	return 1 / float64(n)
}
