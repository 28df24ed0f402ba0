package refit

// blockDSPDC is Algorithm 1 with (41) and (44) for (15) and (19).
type blockDSPDC struct {
	*blocks
	x, y                                    []float64
	rows, columns                           *sampler
	theta, r, boost, perRow, pull, fraction float64

	c, old []float64 // of one block of columns
}

func newBlockDSPDC(b *blocks, c Config, x, y []float64) method {
	n, count := len(b.Losses), len(b.Regularizers)
	s := NewSteps(n, count, c.Dual, c.Primal, c.Scale, b.lambda, b.gamma, c.Theorem == 2)
	widest := 0
	for j := range count {
		widest = max(widest, b.A.Width(j))
	}
	d := blockDSPDC{
		blocks: b, x: x, y: y,
		rows: newSampler("dual", c.Seed, n, c.Dual), columns: newSampler("primal", c.Seed, count, c.Primal),
		theta: s.Theta, r: float64(n) / s.Sigma, boost: float64(n) / float64(c.Dual), perRow: 1 / float64(n), pull: 1 / s.Tau,
		fraction: min(float64(c.Dual)/float64(n), float64(c.Primal)/float64(count)),
		c:        make([]float64, widest), old: make([]float64, widest),
	}
	d.rows.shuffle = c.Shuffle
	if float64(n)*float64(c.Primal) >= float64(count)*float64(c.Dual) {
		m := &blocksByRows{
			blockDSPDC: d, xbar: append([]float64(nil), x...),
			u: make([]float64, len(x)), change: make([]float64, len(x)), changed: make([]bool, count),
			z: make([]float64, len(y)), before: make([]float64, len(y)),
		}
		m.refresh()
		return m
	}
	m := &blocksByColumns{
		blockDSPDC: d, ybar: append([]float64(nil), y...),
		z: make([]float64, len(y)), zbar: make([]float64, len(y)), change: make([]float64, len(y)),
	}
	m.refresh()
	copy(m.zbar, m.z)
	return m
}

// primal moves block j of x, where c is ⟨A^j, ȳ⟩, which it destroys, and returns
// by how much. That is valid until the next call.
func (d *blockDSPDC) primal(j int, c []float64) []float64 {
	x := of(d.x, d.column, j)
	moved := d.old[:len(x)]
	copy(moved, x)
	for k := range c {
		c[k] = float64(c[k] * d.perRow)
	}
	d.Regularizers[j].Prox(x, c, d.pull)
	for k, v := range x {
		moved[k] = v - moved[k]
	}
	return moved
}

// blocksByRows keeps u = Aᵀy.
type blocksByRows struct {
	blockDSPDC
	xbar, u, change []float64
	changed         []bool    // the blocks of change that are not 0
	z, before       []float64 // of the rows drawn: A_i x̄, and y as it was
	moved           []int     // where xbar is not x
}

func (b *blocksByRows) refresh() { b.timesTransposed(b.u, b.y) }

func (b *blocksByRows) pair() (x, y, ax, aty []float64) { return b.x, b.y, nil, b.u }

func (b *blocksByRows) step() float64 {
	rows := b.rows.draw()
	for _, i := range rows {
		b.times(b.z, b.xbar, b.row[i], b.row[i+1])
		copy(of(b.before, b.row, i), of(b.y, b.row, i))
		b.Losses[i].Prox(of(b.y, b.row, i), of(b.z, b.row, i), b.r)
		for r := b.row[i]; r < b.row[i+1]; r++ {
			d := b.y[r] - b.before[r]
			if d == 0 {
				continue
			}
			for _, j := range b.A.Blocks(r) {
				b.changed[j] = true
				b.A.Add(of(b.change, b.column, j), r, j, d)
			}
		}
	}
	for _, j := range b.moved {
		copy(of(b.xbar, b.column, j), of(b.x, b.column, j))
	}
	b.moved = b.columns.draw()
	for _, j := range b.moved {
		c := b.c[:b.A.Width(j)]
		change := of(b.change, b.column, j)
		for k, u := range of(b.u, b.column, j) {
			c[k] = u + float64(b.boost*change[k])
		}
		moved, xbar := b.primal(j, c), of(b.xbar, b.column, j)
		for k, x := range of(b.x, b.column, j) {
			xbar[k] = x + float64(b.theta*moved[k])
		}
	}
	for j, has := range b.changed {
		if has {
			u, change := of(b.u, b.column, j), of(b.change, b.column, j)
			for k, v := range change {
				u[k] += v
			}
			clear(change)
			b.changed[j] = false
		}
	}
	return b.fraction
}

// blocksByColumns keeps z = Ax.
type blocksByColumns struct {
	blockDSPDC
	z, zbar, change, ybar []float64
}

// refresh leaves zbar alone, which is made anew from z in every step.
func (b *blocksByColumns) refresh() { b.times(b.z, b.x, 0, len(b.z)) }

func (b *blocksByColumns) pair() (x, y, ax, aty []float64) { return b.x, b.y, b.z, nil }

func (b *blocksByColumns) step() float64 {
	rows := b.rows.draw()
	for _, i := range rows {
		y, ybar := of(b.y, b.row, i), of(b.ybar, b.row, i)
		b.Losses[i].Prox(y, of(b.zbar, b.row, i), b.r)
		for k, v := range y {
			ybar[k] += float64(b.boost * (v - ybar[k])) // ybar was y
		}
	}
	clear(b.change)
	for _, j := range b.columns.draw() {
		c := b.c[:b.A.Width(j)]
		clear(c)
		for _, r := range b.touching[j] {
			if w := b.ybar[r]; w != 0 {
				b.A.Add(c, r, j, w)
			}
		}
		moved := b.primal(j, c)
		for _, r := range b.touching[j] {
			b.change[r] += b.A.Dot(r, j, moved)
		}
	}
	for _, i := range rows {
		copy(of(b.ybar, b.row, i), of(b.y, b.row, i))
	}
	for r, v := range b.change {
		b.zbar[r] = b.z[r] + float64((1+b.theta)*v)
		b.z[r] += v
	}
	return b.fraction
}

// blockSDCA is stochastic dual coordinate ascent on blocks: it needs the proximal
// map of every block of columns in every step.
type blockSDCA struct {
	*blocks
	x, y, u, z, before []float64
	c                  []float64
	rows               *sampler
	more               float64 // m/(λn)
}

func newBlockSDCA(b *blocks, c Config, x, y []float64) method {
	s := &blockSDCA{
		blocks: b, x: x, y: y, u: make([]float64, len(x)), z: make([]float64, len(y)), before: make([]float64, len(y)),
		c: make([]float64, len(x)), rows: newSampler("dual", c.Seed, len(b.Losses), c.Dual),
		more: float64(c.Dual) / (b.lambda * float64(len(b.Losses))),
	}
	s.rows.shuffle = c.Shuffle
	s.refresh()
	return s
}

func (s *blockSDCA) refresh() {
	s.timesTransposed(s.u, s.y)
	s.follow()
}

// follow makes x the best one for y.
func (s *blockSDCA) follow() {
	n := float64(len(s.Losses))
	for k, u := range s.u {
		s.c[k] = u / n
	}
	for j, r := range s.Regularizers {
		r.Prox(of(s.x, s.column, j), of(s.c, s.column, j), 0)
	}
}

func (s *blockSDCA) pair() (x, y, ax, aty []float64) { return s.x, s.y, nil, s.u }

func (s *blockSDCA) step() float64 {
	rows := s.rows.draw()
	for _, i := range rows {
		s.times(s.z, s.x, s.row[i], s.row[i+1])
	}
	for _, i := range rows {
		copy(of(s.before, s.row, i), of(s.y, s.row, i))
		s.Losses[i].Prox(of(s.y, s.row, i), of(s.z, s.row, i), s.more*s.norms[i])
		for r := s.row[i]; r < s.row[i+1]; r++ {
			if d := s.y[r] - s.before[r]; d != 0 {
				for _, j := range s.A.Blocks(r) {
					s.A.Add(of(s.u, s.column, j), r, j, d)
				}
			}
		}
	}
	s.follow()
	return float64(len(rows)) / float64(len(s.Losses))
}
