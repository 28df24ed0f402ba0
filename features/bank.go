package features

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Bank is the frequencies of the first blocks of a Map, laid out for the
// machine's kernels.
//
// The features of frequency w at x are cos(w·x) and sin(w·x), of no particular
// norm: a model's coefficients absorb it. Feature 2j is the cosine and 2j+1 the
// sine of frequency j, counted over all blocks. Package internal/vec has their
// definition to the last bit; what is said there of x, that magnitudes above
// 2^50 are taken as 2^50 and below 2^-50 as 0, holds here.
//
// The methods may be called by many goroutines at once, except for Grow, which
// needs the Bank to itself. Large calls use several cores; the results do not
// depend on how many.
type Bank struct {
	m      Map
	blocks int
	w      []float32 // packed; what fills the last panel up is zero
	idle   chan *job // memory of calls that are over
}

// NewBank returns an empty Bank. It panics if m has no kernel or no dimension.
func NewBank(m Map) *Bank {
	if m.Kernel == nil || m.Dim < 1 || m.Width < 0 {
		panic("features: a bank needs a kernel and a dimension")
	}
	m.Width = m.width()
	return &Bank{m: m, idle: make(chan *job, 8)}
}

// Map is the Map whose blocks b has.
func (b *Bank) Map() Map { return b.m }

// Blocks is how many blocks b has.
func (b *Bank) Blocks() int { return b.blocks }

// Grow sees to it that b has at least this many blocks.
func (b *Bank) Grow(blocks int) {
	if blocks <= b.blocks {
		return
	}
	old, size := len(b.w), vec.Panels(blocks*b.m.Width, vec.Panel)*vec.Panel*b.m.Dim
	b.w = slices.Grow(b.w, size-old)[:size]
	clear(b.w[old:])
	j := b.job()
	j.from = b.blocks
	const costOfNormal = 20
	j.run((*job).grow, blocks-b.blocks, (blocks-b.blocks)*b.m.Width*b.m.Dim*costOfNormal)
	j.done()
	b.blocks = blocks
}

func (j *job) grow(w *worker, i int) {
	m, block := j.bank.m, j.from+i
	freq := sized(&w.w, m.Width*m.Dim)
	m.sample(freq, block, &w.normals)
	vec.PackFrequencies(j.bank.w, freq, block*m.Width, m.Dim)
}

// prepare returns a job on the rows of x.
func (b *Bank) prepare(x []float32, outputs int) *job {
	if outputs < 1 || len(x)%b.m.Dim != 0 {
		panic("features: rows that are not of the bank's dimension, or no outputs")
	}
	j := b.job()
	j.x, j.rows, j.outputs = x, len(x)/b.m.Dim, outputs
	return j
}

// panels is the packed frequencies of panels p to q.
func (b *Bank) panels(p, q int) []float32 {
	return b.w[p*vec.Panel*b.m.Dim : q*vec.Panel*b.m.Dim]
}

// cache is how many float32 are sure to stay in a core's own cache.
const cache = 192 << 10 / 4

// Sum sets dst, rows x outputs, to the sums of the features of the rows of x,
// rows x Dim, times their coefficients: coef has a row of outputs for each
// feature, from feature 0 on, up to as many as b has. A row's bits do not
// depend on the other rows.
func (b *Bank) Sum(dst []float64, x, coef []float32, outputs int) {
	j := b.prepare(x, outputs)
	defer j.done()
	m := len(coef) / (2 * outputs)
	if len(dst) != j.rows*outputs || len(coef) != 2*m*outputs || m > b.blocks*b.m.Width {
		panic("features: Sum of slices that do not fit together")
	}
	j.dst, j.to = dst, vec.Panels(m, vec.Panel)
	vec.PackCoefficients(sized(&j.pcoef, 2*j.to*vec.Panel*outputs), coef, outputs)
	panels := vec.Panels(j.rows, vec.Lanes)
	j.per = share(panels, 16)
	j.run((*job).sum, vec.Panels(panels, j.per), j.rows*m*(b.m.Dim+16+2*outputs))
}

// sum is Sum for a few panels of rows. The frequencies that fit into a cache
// meet all of them before the next ones do.
func (j *job) sum(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	from := i * j.per * vec.Lanes
	to := min(from+j.per*vec.Lanes, j.rows)
	panels := vec.Panels(to-from, vec.Lanes)
	x := sized(&w.x, panels*vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	sum := sized(&w.sum, panels*vec.Lanes*outputs)
	clear(sum)
	const group = vec.Group / vec.Panel
	chunk := max(1, cache/(vec.Group*dim)) * group
	for p := 0; p < j.to; p += chunk {
		q := min(p+chunk, j.to)
		f, a := j.bank.panels(p, q), j.pcoef[2*p*vec.Panel*outputs:2*q*vec.Panel*outputs]
		for l := range panels {
			vec.Sum(sum[l*vec.Lanes*outputs:(l+1)*vec.Lanes*outputs], x[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim],
				f, a, dim, outputs, min(vec.Lanes, to-from-l*vec.Lanes), &w.Scratch)
		}
	}
	for r := from; r < to; r++ {
		s := sum[(r-from)/vec.Lanes*vec.Lanes*outputs+(r-from)%vec.Lanes:]
		for c := range outputs {
			j.dst[r*outputs+c] = s[c*vec.Lanes]
		}
	}
}

// Gradient sets dst to the sums over the rows of x, rows x Dim, of the features
// times the row's factors g, rows x outputs, which are rounded to float32. dst
// has a row of outputs for each feature of one or more whole blocks, from block
// on: its length says how many. A gradient's bits do not depend on which blocks
// are asked for together.
func (b *Bank) Gradient(dst []float64, block int, x []float32, g []float64, outputs int) {
	j := b.prepare(x, outputs)
	defer j.done()
	n := len(dst) / (2 * b.m.Width * outputs)
	if len(g) != j.rows*outputs || len(dst) != 2*n*b.m.Width*outputs || block < 0 || block+n > b.blocks {
		panic("features: Gradient of slices that do not fit together")
	}
	clear(dst)
	if j.rows == 0 || n == 0 {
		return
	}
	j.dst, j.from, j.to = dst, block*b.m.Width, (block+n)*b.m.Width
	rows := vec.Panels(j.rows, vec.Lanes) * vec.Lanes
	vec.PackRows(sized(&j.px, rows*b.m.Dim), x, b.m.Dim)
	vec.PackFactors(sized(&j.pfac, rows*outputs), g, outputs)
	panels := vec.Panels(j.to, vec.Panel) - j.from/vec.Panel
	j.per = share(panels, max(1, cache/8/vec.ChainsLen(vec.Panel, outputs)))
	j.run((*job).gradient, vec.Panels(panels, j.per), j.rows*panels*vec.Panel*(b.m.Dim+16+2*outputs))
}

// gradient is Gradient for a few panels of frequencies.
func (j *job) gradient(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	p := j.from/vec.Panel + i*j.per
	q := min(p+j.per, vec.Panels(j.to, vec.Panel))
	from, to := max(j.from, p*vec.Panel), min(j.to, q*vec.Panel)
	dst := j.dst[2*(from-j.from)*outputs : 2*(to-j.from)*outputs]
	acc := sized(&w.acc, vec.ChainsLen((q-p)*vec.Panel, outputs))
	for run := 0; run < j.rows; run += vec.Run {
		clear(acc)
		for r := run; r < min(run+vec.Run, j.rows); r += vec.Lanes {
			vec.Gradient(acc, j.px[r*dim:(r+vec.Lanes)*dim], j.bank.panels(p, q),
				j.pfac[r*outputs:(r+vec.Lanes)*outputs], dim, outputs, &w.Scratch)
		}
		vec.AddChains(dst, acc, from-p*vec.Panel, outputs, &w.Scratch)
	}
}

// Features sets dst to the features of the rows of x, rows x Dim: a row for
// each of them, of the features of one or more whole blocks, from block on. The
// length of dst says how many.
func (b *Bank) Features(dst []float32, block int, x []float32) {
	j := b.prepare(x, 1)
	defer j.done()
	if j.rows == 0 {
		return
	}
	n := len(dst) / (2 * b.m.Width * j.rows)
	if len(dst) != 2*n*b.m.Width*j.rows || block < 0 || block+n > b.blocks {
		panic("features: Features of slices that do not fit together")
	}
	j.features, j.from, j.to = dst, block*b.m.Width, (block+n)*b.m.Width
	j.run((*job).store, vec.Panels(j.rows, vec.Lanes), j.rows*n*b.m.Width*(b.m.Dim+16))
}

// store is Features for a panel of rows.
func (j *job) store(w *worker, i int) {
	const perTile = 2 * vec.Panel * vec.Lanes
	dim, from, to := j.bank.m.Dim, i*vec.Lanes, min((i+1)*vec.Lanes, j.rows)
	x := sized(&w.x, vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	tile := sized(&w.acc, perTile)
	for p := j.from / vec.Panel; p*vec.Panel < j.to; p++ {
		vec.Features(tile, x, j.bank.panels(p, p+1), dim, &w.Scratch)
		for f := max(j.from, p*vec.Panel); f < min(j.to, (p+1)*vec.Panel); f++ {
			cos := tile[f%vec.Panel*vec.Lanes:]
			sin := cos[vec.Panel*vec.Lanes:]
			for r := range to - from {
				d := j.features[(from+r)*2*(j.to-j.from)+2*(f-j.from):]
				d[0], d[1] = cos[r], sin[r]
			}
		}
	}
}
