package refit

// sdca is stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013), in
// its proximal form: x is the gradient of g* at -Aᵀy/n, and each y_i drawn
// maximises a bound of D from below that holds for every set of them.
type sdca struct {
	p     *Problem
	x, y  []float64
	u     []float64 // Aᵀy
	r     []float64 // m ‖A_i‖² / (λ₂n)
	delta []float64
	rows  *sampler

	factors       *Factored // A, if it is
	inner, change []float64 // Vx, and by how much Uᵀy changes
}

func newSDCA(p *Problem, c Config, y []float64) method {
	n, cols := p.A.Dims()
	s := &sdca{
		p: p, x: make([]float64, cols), y: y, u: make([]float64, cols), r: squaredNorms(p.A),
		delta: make([]float64, c.Dual), rows: newSampler("dual", c.Seed, n, c.Dual),
	}
	s.rows.shuffle = c.Shuffle
	for i, square := range s.r {
		s.r[i] = float64(c.Dual) * square / (p.L2 * float64(n))
	}
	if s.factors, _ = p.A.(*Factored); s.factors != nil {
		s.inner, s.change = make([]float64, s.factors.u.p), make([]float64, s.factors.u.p)
	}
	s.refresh()
	return s
}

func (s *sdca) refresh() {
	multiplyTransposed(s.u, s.p.A, s.y)
	s.follow()
}

// follow makes x the best one for y.
func (s *sdca) follow() {
	n := float64(len(s.y))
	for j, u := range s.u {
		s.x[j] = soft(-u/n, s.p.L1) / s.p.L2
	}
}

func (s *sdca) pair() (x, y, ax, aty []float64) { return s.x, s.y, nil, s.u }

func (s *sdca) step() float64 {
	rows := s.rows.draw()
	a, x, u := s.p.A, s.x, s.u
	if s.factors != nil { // once through V, and not for every row
		a, x, u = s.factors.u, s.inner, s.change
		multiplyTransposed(x, s.factors.v, s.x)
		clear(u)
	}
	for k, i := range rows {
		s.delta[k] = s.p.prox(i, a.Dot(i, x), s.y[i], s.r[i]) - s.y[i]
	}
	for k, i := range rows {
		if d := s.delta[k]; d != 0 {
			s.y[i] += d
			a.Add(u, i, d)
		}
	}
	if s.factors != nil {
		for j := range s.u {
			s.u[j] += s.factors.v.Dot(j, u)
		}
	}
	s.follow()
	return float64(len(rows)) / float64(len(s.y))
}

// svrg is the stochastic variance reduced gradient (Johnson and Zhang 2013),
// with the proximal map of Xiao and Zhang (2014). Stages have 2n steps of the
// size 0.1/L, which is in the range that the latter use, with L the greatest
// ‖A_i‖²/γ. Its y are the slopes at x.
type svrg struct {
	p          *Problem
	rate       float64
	x, y       []float64
	mean, slow []float64 // of the gradients at the beginning of the stage; and φ' there
	g          []float64
	stage      int // steps since
	rows       *sampler
}

func newSVRG(p *Problem, c Config, x []float64) method {
	n, cols := p.A.Dims()
	s := &svrg{
		p: p, x: x, y: make([]float64, n), mean: make([]float64, cols), slow: make([]float64, n),
		g: make([]float64, cols), rows: newSampler("dual", c.Seed, n, 1),
	}
	s.rows.shuffle = c.Shuffle
	greatest, _ := Scale(p.A, cols, 1)
	s.rate = 0.1 * p.gamma() / greatest
	return s
}

func (s *svrg) refresh() {}

// slopes sets y to φ'(Ax).
func (s *svrg) slopes(y []float64) {
	multiply(y, s.p.A, s.x)
	for i := range y {
		y[i] = s.p.slope(i, y[i])
	}
}

func (s *svrg) pair() (x, y, ax, aty []float64) {
	s.slopes(s.y)
	return s.x, s.y, nil, nil
}

func (s *svrg) step() float64 {
	n := len(s.y)
	s.stage++
	if s.stage == 1 {
		s.slopes(s.slow)
		multiplyTransposed(s.mean, s.p.A, s.slow)
		for j := range s.mean {
			s.mean[j] /= float64(n)
		}
		return 1
	}
	if s.stage > 2*n {
		s.stage = 0
	}
	i := s.rows.draw()[0]
	copy(s.g, s.mean)
	s.p.A.Add(s.g, i, s.p.slope(i, s.p.A.Dot(i, s.x))-s.slow[i])
	shrink, l1 := 1/(1+float64(s.rate*s.p.L2)), float64(s.rate*s.p.L1)
	for j, g := range s.g {
		s.x[j] = float64(soft(s.x[j]-float64(s.rate*g), l1) * shrink)
	}
	return 1 / float64(n)
}
