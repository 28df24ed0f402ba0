package optim

// blockDSPDC is Algorithm 1 with (41) and (44) in place of (15) and (19).
type blockDSPDC struct {
	*blocks
	x, y                                          []float64
	rows, columns                                 *sampler
	theta, r, extrapolation, inverseN, inverseTau float64 // as in dspdc
	passPerStep                                   float64

	c, old []float64 // c and change of one block of columns
}

func newBlockDSPDC(b *blocks, c Config, x, y []float64) method {
	n, count := len(b.Losses), len(b.Regularizers)
	s := newStepSizes(n, count, c.Dual, c.Primal, c.Scale, b.lambda, b.gamma, c.Theorem)
	widest := 0
	for j := range count {
		widest = max(widest, b.A.Width(j))
	}
	d := blockDSPDC{
		blocks: b, x: x, y: y,
		rows: newSampler("dual", c.Seed, n, c.Dual), columns: newSampler("primal", c.Seed, count, c.Primal),
		theta: s.theta, r: float64(n) / s.sigma, extrapolation: float64(n) / float64(c.Dual), inverseN: 1 / float64(n), inverseTau: 1 / s.tau,
		passPerStep: min(float64(c.Dual)/float64(n), float64(c.Primal)/float64(count)),
		c:           make([]float64, widest), old: make([]float64, widest),
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

// primal moves block j of x, given c = ⟨A^j, ȳ⟩, which it overwrites. It returns the change of the
// block, which is valid until the next call.
func (d *blockDSPDC) primal(j int, c []float64) []float64 {
	x := block(d.x, d.columnStart, j)
	moved := d.old[:len(x)]
	copy(moved, x)
	for k := range c {
		c[k] = float64(c[k] * d.inverseN)
	}
	d.Regularizers[j].Prox(x, c, d.inverseTau)
	for k, v := range x {
		moved[k] = v - moved[k]
	}
	return moved
}

// blocksByRows keeps u = Aᵀy up to date.
type blocksByRows struct {
	blockDSPDC
	xbar, u, change []float64
	changed         []bool    // the blocks where change is not 0
	z, before       []float64 // A_i x̄ of the rows drawn, and their y before the step
	moved           []int     // where xbar differs from x
}

func (b *blocksByRows) refresh() { b.multiplyTransposed(b.u, b.y) }

func (b *blocksByRows) iterate() (x, y, ax, aty []float64) { return b.x, b.y, nil, b.u }

func (b *blocksByRows) step() float64 {
	rows := b.rows.draw()
	for _, i := range rows {
		b.multiplyRows(b.z, b.xbar, b.rowStart[i], b.rowStart[i+1])
		copy(block(b.before, b.rowStart, i), block(b.y, b.rowStart, i))
		b.Losses[i].Prox(block(b.y, b.rowStart, i), block(b.z, b.rowStart, i), b.r)
		for r := b.rowStart[i]; r < b.rowStart[i+1]; r++ {
			d := b.y[r] - b.before[r]
			if d == 0 {
				continue
			}
			for _, j := range b.A.Blocks(r) {
				b.changed[j] = true
				b.A.Add(block(b.change, b.columnStart, j), r, j, d)
			}
		}
	}
	for _, j := range b.moved {
		copy(block(b.xbar, b.columnStart, j), block(b.x, b.columnStart, j))
	}
	b.moved = b.columns.draw()
	for _, j := range b.moved {
		c := b.c[:b.A.Width(j)]
		change := block(b.change, b.columnStart, j)
		for k, u := range block(b.u, b.columnStart, j) {
			c[k] = u + float64(b.extrapolation*change[k])
		}
		moved, xbar := b.primal(j, c), block(b.xbar, b.columnStart, j)
		for k, x := range block(b.x, b.columnStart, j) {
			xbar[k] = x + float64(b.theta*moved[k])
		}
	}
	b.apply()
	return b.passPerStep
}

// apply adds change to u, and clears it.
func (b *blocksByRows) apply() {
	for j, has := range b.changed {
		if has {
			u, change := block(b.u, b.columnStart, j), block(b.change, b.columnStart, j)
			for k, v := range change {
				u[k] += v
			}
			clear(change)
			b.changed[j] = false
		}
	}
}

// blocksByColumns keeps z = Ax up to date.
type blocksByColumns struct {
	blockDSPDC
	z, zbar, change, ybar []float64
}

// refresh leaves zbar alone: every step computes it from z.
func (b *blocksByColumns) refresh() { b.multiply(b.z, b.x) }

func (b *blocksByColumns) iterate() (x, y, ax, aty []float64) { return b.x, b.y, b.z, nil }

func (b *blocksByColumns) step() float64 {
	rows := b.rows.draw()
	for _, i := range rows {
		y, ybar := block(b.y, b.rowStart, i), block(b.ybar, b.rowStart, i)
		b.Losses[i].Prox(y, block(b.zbar, b.rowStart, i), b.r)
		for k, v := range y {
			ybar[k] += float64(b.extrapolation * (v - ybar[k])) // ybar was y
		}
	}
	clear(b.change)
	for _, j := range b.columns.draw() {
		c := b.c[:b.A.Width(j)]
		clear(c)
		for _, r := range b.rowsOf[j] {
			if w := b.ybar[r]; w != 0 {
				b.A.Add(c, r, j, w)
			}
		}
		moved := b.primal(j, c)
		for _, r := range b.rowsOf[j] {
			b.change[r] += b.A.Dot(r, j, moved)
		}
	}
	for _, i := range rows {
		copy(block(b.ybar, b.rowStart, i), block(b.y, b.rowStart, i))
	}
	for r, v := range b.change {
		b.zbar[r] = b.z[r] + float64((1+b.theta)*v)
		b.z[r] += v
	}
	return b.passPerStep
}
