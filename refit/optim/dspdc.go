package optim

import (
	"math"

	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// newDSPDC returns the implementation that costs the least: Algorithm 2 for two factors; otherwise
// one that keeps Aᵀy if n/m ≥ p/q, and one that keeps Ax if not (section 4.1).
func newDSPDC(p *Problem, c Config, x, y []float64) method {
	n, columns := p.A.Dims()
	build := newByColumns
	if a, ok := p.A.(*matrix.Factored); ok {
		build = func(d dspdc) method { return newInner(d, a) }
	} else if float64(n)*float64(c.Primal) >= float64(columns)*float64(c.Dual) {
		build = newByRows
	}
	return build(newShared(p, c, x, y))
}

// newShared returns the state that the implementations share.
func newShared(p *Problem, c Config, x, y []float64) dspdc {
	n, columns := p.A.Dims()
	s := newStepSizes(n, columns, c.Dual, c.Primal, c.Scale, p.L2, p.gamma(), c.Theorem)
	rows := newSampler("dual", c.Seed, n, c.Dual)
	rows.shuffle = c.Shuffle
	return dspdc{
		p: p, x: x, y: y,
		rows:          rows,
		columns:       newSampler("primal", c.Seed, columns, c.Primal),
		theta:         s.theta,
		r:             float64(n) / s.sigma,
		extrapolation: float64(n) / float64(c.Dual),
		inverseN:      1 / float64(n),
		inverseTau:    1 / s.tau,
		shrink:        1 / (p.L2 + 1/s.tau),
	}
}

// dspdc is the state that the implementations share.
type dspdc struct {
	p             *Problem
	x, y          []float64
	rows, columns *sampler
	theta         float64
	r             float64 // n/σ
	extrapolation float64 // of y: n/m
	inverseN      float64 // 1/n
	inverseTau    float64 // 1/τ
	shrink        float64 // 1/(λ₂+1/τ)
	score         [1]float64
}

// dual moves y_i, given the score ⟨A_i, x̄⟩, and returns the change of y_i: (15).
func (d *dspdc) dual(i int, score float64) float64 {
	old := d.y[i]
	d.score[0] = score
	d.p.prox(d.y[i:i+1], d.score[:], i, d.r)
	return d.y[i] - old
}

// primalGroups moves all of x, whose columns are in groups, given c = Aᵀȳ. It sets c to the change
// of x.
func (d *dspdc) primalGroups(c []float64) {
	for j, x := range d.x {
		c[j] = float64(x*d.inverseTau) - float64(c[j]*d.inverseN)
	}
	d.p.threshold(c, d.p.L1)
	for j, x := range d.x {
		d.x[j] = float64(c[j] * d.shrink)
		c[j] = d.x[j] - x
	}
}

// primal moves x_j, given c = ⟨A^j, ȳ⟩, and returns the change of x_j: (19).
func (d *dspdc) primal(j int, c float64) float64 {
	x := d.x[j]
	d.x[j] = float64(soft(float64(x*d.inverseTau)-float64(c*d.inverseN), d.p.L1) * d.shrink)
	return d.x[j] - x
}

// byRows keeps u = Aᵀy up to date.
type byRows struct {
	dspdc
	xbar, u, change []float64
	delta           []float64 // ⟨A_i, x̄⟩ of the rows drawn
	moved           []int     // where xbar differs from x
}

func newByRows(d dspdc) method {
	_, columns := d.p.A.Dims()
	b := &byRows{dspdc: d, delta: make([]float64, d.rows.size), xbar: append([]float64(nil), d.x...), u: make([]float64, columns), change: make([]float64, columns)}
	b.refresh()
	if d.rows.size == 1 && d.columns.size == columns && d.p.L1 == 0 {
		switch a := d.p.A.(type) {
		case *matrix.Dense:
			return &ridgeByRows[float64]{b, a.Rows(), 1}
		case *matrix.Float32:
			rows, factor := a.Elements()
			return &ridgeByRows[float32]{b, rows, factor}
		}
	}
	if a, ok := d.p.A.(*matrix.Float32); ok && d.rows.size == 1 && !d.p.byColumn() {
		rows, factor := a.Elements()
		return &groupsByRows{b, rows, factor, make([]float64, columns)}
	}
	return b
}

func (b *byRows) refresh() { matrix.MultiplyTransposed(b.u, b.p.A, b.y) }

func (b *byRows) iterate() (x, y, ax, aty []float64) { return b.x, b.y, nil, b.u }

func (b *byRows) step() float64 {
	rows := b.rows.draw()
	for k, i := range rows {
		b.delta[k] = b.p.A.Dot(i, b.xbar)
	}
	clear(b.change)
	for k, i := range rows {
		if d := b.dual(i, b.delta[k]); d != 0 {
			b.p.A.Add(b.change, i, d)
		}
	}
	for _, j := range b.moved {
		b.xbar[j] = b.x[j]
	}
	if !b.p.byColumn() {
		b.stepGroups()
		return 1 / b.extrapolation
	}
	b.moved = b.columns.draw()
	for _, j := range b.moved {
		d := b.primal(j, b.u[j]+float64(b.extrapolation*b.change[j]))
		b.xbar[j] = b.x[j] + float64(b.theta*d)
	}
	for j, v := range b.change {
		b.u[j] += v
	}
	return 1 / b.extrapolation
}

// stepGroups is the part of a step that moves x, in groups.
func (b *byRows) stepGroups() {
	for j, v := range b.change {
		b.change[j] = b.u[j] + float64(b.extrapolation*v)
		b.u[j] += v
	}
	b.primalGroups(b.change)
	for j, d := range b.change {
		b.xbar[j] = b.x[j] + float64(b.theta*d)
	}
}

// byColumns keeps z = Ax up to date.
type byColumns struct {
	dspdc
	z, zbar, change []float64
	ybar            []float64 // y, except at the rows drawn
}

func newByColumns(d dspdc) method {
	n, _ := d.p.A.Dims()
	b := &byColumns{dspdc: d, z: make([]float64, n), zbar: make([]float64, n), change: make([]float64, n), ybar: append([]float64(nil), d.y...)}
	b.refresh()
	copy(b.zbar, b.z)
	return b
}

// refresh leaves zbar alone: every step computes it from z.
func (b *byColumns) refresh() { matrix.Multiply(b.z, b.p.A, b.x) }

func (b *byColumns) iterate() (x, y, ax, aty []float64) { return b.x, b.y, b.z, nil }

func (b *byColumns) step() float64 {
	rows := b.rows.draw()
	for _, i := range rows {
		old := b.y[i]
		b.ybar[i] = old + float64(b.extrapolation*b.dual(i, b.zbar[i]))
	}
	clear(b.change)
	columns := b.columns.draw()
	for _, j := range columns {
		if d := b.primal(j, b.p.A.ColumnDot(j, b.ybar)); d != 0 {
			b.p.A.AddColumn(b.change, j, d)
		}
	}
	for _, i := range rows {
		b.ybar[i] = b.y[i]
	}
	for i, v := range b.change {
		b.zbar[i] = b.z[i] + float64((1+b.theta)*v)
		b.z[i] += v
	}
	return float64(len(columns)) / float64(len(b.x))
}

// inner is Algorithm 2: it keeps u = Uᵀy and v = Vx, which have the inner dimension, up to date.
// (In one place, the text of the paper has v̄ instead of the ū of its (34).)
type inner struct {
	dspdc
	left, right           *matrix.Dense // A = left rightᵀ
	u, v, ubar, vbar, sum []float64
}

func newInner(d dspdc, a *matrix.Factored) method {
	left, right, size := a.Factors()
	vector := func() []float64 { return make([]float64, size) }
	f := &inner{dspdc: d, left: left, right: right, u: vector(), v: vector(), ubar: vector(), vbar: vector(), sum: vector()}
	f.refresh()
	copy(f.vbar, f.v)
	return f
}

func (f *inner) refresh() {
	matrix.MultiplyTransposed(f.u, f.left, f.y)
	matrix.MultiplyTransposed(f.v, f.right, f.x)
}

func (f *inner) iterate() (x, y, ax, aty []float64) { return f.x, f.y, nil, nil }

func (f *inner) step() float64 {
	clear(f.sum)
	for _, i := range f.rows.draw() {
		f.left.Add(f.sum, i, f.dual(i, f.left.Dot(i, f.vbar)))
	}
	for k, v := range f.sum {
		f.ubar[k] = f.u[k] + float64(f.extrapolation*v)
		f.u[k] += v
	}
	clear(f.sum)
	if f.p.byColumn() {
		for _, j := range f.columns.draw() {
			f.right.Add(f.sum, j, f.primal(j, f.right.Dot(j, f.ubar)))
		}
	} else {
		c := make([]float64, len(f.x))
		matrix.Multiply(c, f.right, f.ubar)
		f.primalGroups(c)
		matrix.MultiplyTransposed(f.sum, f.right, c)
	}
	for k, v := range f.sum {
		f.vbar[k] = f.v[k] + float64((1+f.theta)*v)
		f.v[k] += v
	}
	return float64(f.rows.size+f.columns.size) / float64(len(f.x)+len(f.y))
}

// stepSizes are the step sizes of DSPDC, and what the theorems promise for them.
type stepSizes struct {
	tau, sigma float64 // primal and dual
	theta      float64 // extrapolation of x

	// contraction bounds the expected share that remains after a step, of the weighted squared
	// distance to the optimum (Theorem 1) or of the gap (Theorem 2).
	contraction float64
}

// newStepSizes returns the step sizes for q of p primal and m of n dual coordinates, Λ = scale, λ =
// l2 and γ = gamma, by Theorem 1 or 2: (21) to (25). τσ = nmq/(4pΛ).
func newStepSizes(n, p, m, q int, scale, l2, gamma float64, theorem int) stepSizes {
	nm, pq := float64(n)/float64(m), float64(p)/float64(q)
	c := math.Sqrt(scale / (l2 * gamma * float64(n)))
	w := float64(c * nm * pq)
	s := math.Sqrt(float64((nm-pq)*(nm-pq)) + float64(4*w*w))
	tau, sigma := nm-pq+s, pq-nm+s
	// The smaller of the two is the difference of numbers that may be close, so it is computed from
	// their product, 4w².
	if nm < pq {
		tau = 4 * w * w / sigma
	} else {
		sigma = 4 * w * w / tau
	}
	denominator := w + max(nm, pq)
	if theorem == 2 {
		denominator *= 2
	}
	return stepSizes{
		tau:         pq / l2 / tau,
		sigma:       nm * float64(n) / gamma / sigma,
		theta:       pq - pq/denominator,
		contraction: 1 - 1/denominator,
	}
}
