package optim

// blockSDCA is stochastic dual coordinate ascent on blocks. Every step takes the
// proximal map of every block of columns.
type blockSDCA struct {
	*blocks
	x, y, u, z, before []float64
	c                  []float64
	rows               *sampler
	rFactor            float64 // m/(λn)
}

func newBlockSDCA(b *blocks, c Config, x, y []float64) method {
	s := &blockSDCA{
		blocks: b, x: x, y: y, u: make([]float64, len(x)), z: make([]float64, len(y)), before: make([]float64, len(y)),
		c: make([]float64, len(x)), rows: newSampler("dual", c.Seed, len(b.Losses), c.Dual),
		rFactor: float64(c.Dual) / (b.lambda * float64(len(b.Losses))),
	}
	s.rows.shuffle = c.Shuffle
	s.refresh()
	return s
}

func (s *blockSDCA) refresh() {
	s.multiplyTransposed(s.u, s.y)
	s.updatePrimal()
}

// updatePrimal sets x to the best x for y.
func (s *blockSDCA) updatePrimal() {
	n := float64(len(s.Losses))
	for k, u := range s.u {
		s.c[k] = u / n
	}
	for j, r := range s.Regularizers {
		r.Prox(block(s.x, s.columnStart, j), block(s.c, s.columnStart, j), 0)
	}
}

func (s *blockSDCA) iterate() (x, y, ax, aty []float64) { return s.x, s.y, nil, s.u }

func (s *blockSDCA) step() float64 {
	rows := s.rows.draw()
	for _, i := range rows {
		s.multiplyRows(s.z, s.x, s.rowStart[i], s.rowStart[i+1])
	}
	for _, i := range rows {
		copy(block(s.before, s.rowStart, i), block(s.y, s.rowStart, i))
		s.Losses[i].Prox(block(s.y, s.rowStart, i), block(s.z, s.rowStart, i), s.rFactor*s.norms[i])
		for r := s.rowStart[i]; r < s.rowStart[i+1]; r++ {
			if d := s.y[r] - s.before[r]; d != 0 {
				for _, j := range s.A.Blocks(r) {
					s.A.Add(block(s.u, s.columnStart, j), r, j, d)
				}
			}
		}
	}
	s.updatePrimal()
	return float64(len(rows)) / float64(len(s.Losses))
}
