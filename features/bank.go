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
// The methods may be called by many goroutines at once, except for Limit and
// Grow, which need the Bank to themselves. Large calls use several cores; the
// results do not depend on how many.
type Bank struct {
	m      Map
	blocks int
	limit  int       // bytes of w
	w      []float32 // packed; what fills the last panel up is zero
	signs  []uint32  // of SORF, instead of w: [transforms][3][transform]
	idle   chan *job // memory of calls that are over
}

// DefaultLimit is how many bytes of frequencies a Bank keeps.
const DefaultLimit = 1 << 30

// NewBank returns an empty Bank. It panics if m has no kernel or no dimension,
// or if its sampling is not for its kernel.
func NewBank(m Map) *Bank {
	if _, gaussian := m.Kernel.(Gaussian); m.Sampling == SORF && !gaussian {
		panic("features: sorf is for the Gaussian kernel")
	}
	if m.Kernel == nil || m.Dim < 1 || m.Width < 0 {
		panic("features: a bank needs a kernel and a dimension")
	}
	m.Width = m.width()
	return &Bank{m: m, limit: DefaultLimit, idle: make(chan *job, 8)}
}

// Limit sets how many bytes of frequencies b keeps. Those beyond are made again
// in each call: the results are the same, and take longer, most of all for few
// rows. It panics if b has blocks already.
func (b *Bank) Limit(bytes int) {
	if b.blocks > 0 {
		panic("features: Limit after Grow")
	}
	b.limit = bytes
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
	from := b.blocks
	b.blocks = blocks
	if b.m.Sampling == SORF {
		n := b.m.transform()
		old, all := len(b.signs)/(3*n), vec.Panels(vec.Panels(blocks*b.m.Width, vec.Panel)*vec.Panel, n)
		b.signs = slices.Grow(b.signs, (all-old)*3*n)[:all*3*n]
		for i := old; i < all; i++ {
			b.m.signs(b.signs[3*n*i:3*n*(i+1)], i)
		}
		return
	}
	old, panel := len(b.w), vec.Panel*b.m.Dim
	kept := vec.Panels(blocks*b.m.Width, vec.Panel)
	if most := b.limit / (4 * panel); kept > most {
		kept = most / perGroup * perGroup
	}
	b.w = slices.Grow(b.w, max(0, kept*panel-old))[:kept*panel]
	clear(b.w[min(old, len(b.w)):])
	j := b.job()
	defer j.done()
	j.pack(b.w, 0, from)
}

// perGroup is how many panels a group has. Sum takes panels group by group.
const perGroup = vec.Group / vec.Panel

// pack packs the frequencies of the blocks from, from+1, ... into w, panels from
// panel p on, as many as have a place there.
func (j *job) pack(w []float32, p, from int) {
	b := j.bank
	j.packed, j.packedFrom, j.block = w, p*vec.Panel, from
	to := min(b.blocks, vec.Panels(j.packedFrom+len(w)/b.m.Dim, b.m.Width))
	const costOfNormal = 20
	j.run((*job).packBlock, max(0, to-from), max(0, to-from)*b.m.Width*b.m.Dim*costOfNormal)
}

func (j *job) packBlock(w *worker, i int) {
	m, block := j.bank.m, j.block+i
	all := sized(&w.w, m.Width*m.Dim)
	m.sample(all, block, &w.normals)
	first := block * m.Width
	from, to := max(first, j.packedFrom), min(first+m.Width, j.packedFrom+len(j.packed)/m.Dim)
	vec.PackFrequencies(j.packed, all[(from-first)*m.Dim:(to-first)*m.Dim], from-j.packedFrom, m.Dim)
}

// ready puts panels from p on into j.w, and returns the panel after the last of
// them, at most to. All of those that the bank keeps come at once, and those
// that it does not keep in a few megabytes at a time.
func (j *job) ready(p, to int) int {
	b := j.bank
	size := vec.Panel * b.m.Dim
	j.first = p
	if b.m.Sampling == SORF {
		return to
	}
	if kept := len(b.w) / size; p < kept {
		to = min(to, kept)
		j.w = b.w[p*size : to*size]
		return to
	}
	const most = 4 << 20 / 4
	to = min(to, p+max(1, most/(size*perGroup))*perGroup)
	j.w = sized(&j.pw, (to-p)*size)
	clear(j.w[max(0, len(j.w)-size):])
	j.pack(j.w, p, p*vec.Panel/b.m.Width)
	return to
}

// panels is the packed frequencies of panels p to q, which are ready.
func (j *job) panels(p, q int) []float32 {
	size := vec.Panel * j.bank.m.Dim
	return j.w[(p-j.first)*size : (q-j.first)*size]
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

// chunk is how many panels are worked on together, whole groups: about as many
// as fit into a cache, and of SORF three transforms.
func (b *Bank) chunk() int {
	if b.m.Sampling == SORF {
		return max(perGroup, 3*b.m.transform()/vec.Panel)
	}
	return max(1, cache/(vec.Group*b.m.Dim)) * perGroup
}

// phases is the products of SORF's matrices, of panels p to q, with a panel of
// rows.
func (w *worker) phases(b *Bank, x []float32, p, q int) []float32 {
	n := b.m.transform()
	from, to := p*vec.Panel/n, vec.Panels(q*vec.Panel, n)
	t := sized(&w.t, (to-from)*n*vec.Lanes)
	for i := from; i < to; i++ {
		vec.Orthogonal(t[(i-from)*n*vec.Lanes:(i-from+1)*n*vec.Lanes], x, b.signs[3*n*i:3*n*(i+1)], n, b.m.Dim)
	}
	return t[(p*vec.Panel-from*n)*vec.Lanes : (q*vec.Panel-from*n)*vec.Lanes]
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
	clear(dst)
	j.dst = dst
	few := j.rows % vec.Lanes
	if b.m.Sampling == SORF || few > vec.Few() || j.rows > few && m*b.m.Dim > len(b.w) {
		few = 0
	}
	j.rows -= few
	if j.rows > 0 {
		j.sumPanels(coef)
	}
	if few > 0 {
		j.x, j.dst, j.rows = x[j.rows*b.m.Dim:], dst[j.rows*outputs:], few
		j.sumFew(coef)
	}
}

// sumPanels is Sum for rows in panels.
func (j *job) sumPanels(coef []float32) {
	dim, outputs := j.bank.m.Dim, j.outputs
	all, rows := vec.Panels(len(coef)/(2*outputs), vec.Panel), vec.Panels(j.rows, vec.Lanes)
	vec.PackCoefficients(sized(&j.pcoef, 2*all*vec.Panel*outputs), coef, outputs)
	j.per = share(rows, 16)
	for p := 0; p < all; p = j.to {
		j.to = j.ready(p, all)
		j.run((*job).sum, vec.Panels(rows, j.per), j.rows*(j.to-p)*vec.Panel*(dim+16+2*outputs))
	}
}

// sumFew is Sum for a few rows: the tasks are of groups, and the groups are
// added afterwards, in order.
func (j *job) sumFew(coef []float32) {
	outputs := j.outputs
	m := len(coef) / (2 * outputs)
	all := vec.Panels(m, vec.Panel)
	for p := 0; p < all; p = j.to {
		j.to = j.ready(p, all)
		j.coef = coef[2*p*vec.Panel*outputs : 2*min(m, j.to*vec.Panel)*outputs]
		groups := vec.Panels(j.to-p, perGroup)
		j.per = max(8, groups/64*8)
		sized(&j.partial, groups*j.rows*outputs)
		j.run((*job).few, vec.Panels(groups, j.per), j.rows*(j.to-p)*vec.Panel*(j.bank.m.Dim+16+2*outputs))
		for g := range groups {
			for i, v := range j.partial[g*outputs*j.rows : (g+1)*outputs*j.rows] {
				j.dst[i] += v
			}
		}
	}
}

// few is what a few groups add to the rows.
func (j *job) few(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	from := i * j.per // groups
	to := min(from+j.per, vec.Panels(j.to-j.first, perGroup))
	coef := j.coef[2*from*vec.Group*outputs : min(len(j.coef), 2*to*vec.Group*outputs)]
	freq := j.panels(j.first+from*perGroup, min(j.to, j.first+to*perGroup))
	sum := sized(&w.sum, (to-from)*outputs)
	for r := range j.rows {
		vec.SumFew(sum, j.x[r*dim:(r+1)*dim], freq, coef, dim, outputs, &w.Scratch)
		for g := range to - from {
			copy(j.partial[((from+g)*j.rows+r)*outputs:], sum[g*outputs:(g+1)*outputs])
		}
	}
}

// sum adds the frequencies that are ready to a few panels of rows. The frequencies that fit into a cache
// meet all of them before the next ones do.
func (j *job) sum(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	from := i * j.per * vec.Lanes
	to := min(from+j.per*vec.Lanes, j.rows)
	panels := vec.Panels(to-from, vec.Lanes)
	x := sized(&w.x, panels*vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	sum := sized(&w.sum, panels*vec.Lanes*outputs)
	at := func(r int) []float64 { return sum[(r-from)/vec.Lanes*vec.Lanes*outputs+(r-from)%vec.Lanes:] }
	for r := from; r < to; r++ {
		s := at(r)
		for c, v := range j.dst[r*outputs : (r+1)*outputs] {
			s[c*vec.Lanes] = v
		}
	}
	chunk := j.bank.chunk()
	for p := j.first; p < j.to; p += chunk {
		q := min(p+chunk, j.to)
		a := j.pcoef[2*p*vec.Panel*outputs : 2*q*vec.Panel*outputs]
		for l := range panels {
			dst, x, n := sum[l*vec.Lanes*outputs:(l+1)*vec.Lanes*outputs], x[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim], min(vec.Lanes, to-from-l*vec.Lanes)
			if j.bank.m.Sampling == SORF {
				vec.SumPhases(dst, j.bank.m.turns(), w.phases(j.bank, x, p, q), a, outputs, n, &w.Scratch)
				continue
			}
			vec.Sum(dst, x, j.panels(p, q), a, dim, outputs, n, &w.Scratch)
		}
	}
	for r := from; r < to; r++ {
		s := at(r)
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
	j.dst, j.from, j.end = dst, block*b.m.Width, (block+n)*b.m.Width
	rows := vec.Panels(j.rows, vec.Lanes) * vec.Lanes
	vec.PackRows(sized(&j.px, rows*b.m.Dim), x, b.m.Dim)
	vec.PackFactors(sized(&j.pfac, rows*outputs), g, outputs)
	last := vec.Panels(j.end, vec.Panel)
	for p := j.from / vec.Panel; p < last; p = j.to {
		j.to = j.ready(p, last)
		j.per = share(j.to-p, max(1, cache/8/vec.ChainsLen(vec.Panel, outputs)))
		if b.m.Sampling == SORF {
			j.per = b.chunk()
		}
		j.run((*job).gradient, vec.Panels(j.to-p, j.per), j.rows*(j.to-p)*vec.Panel*(b.m.Dim+16+2*outputs))
	}
}

// gradient is Gradient for a few panels of those that are ready.
func (j *job) gradient(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	p := j.first + i*j.per
	q := min(p+j.per, j.to)
	from, to := max(j.from, p*vec.Panel), min(j.end, q*vec.Panel)
	dst := j.dst[2*(from-j.from)*outputs : 2*(to-j.from)*outputs]
	acc := sized(&w.acc, vec.ChainsLen((q-p)*vec.Panel, outputs))
	for run := 0; run < j.rows; run += vec.Run {
		clear(acc)
		to := min(run+vec.Run, vec.Panels(j.rows, vec.Lanes)*vec.Lanes)
		if j.bank.m.Sampling == SORF {
			for r := run; r < to; r += vec.Lanes {
				t := w.phases(j.bank, j.px[r*dim:(r+vec.Lanes)*dim], p, q)
				vec.GradientPhases(acc, j.bank.m.turns(), t, j.pfac[r*outputs:(r+vec.Lanes)*outputs], outputs, &w.Scratch)
			}
		} else {
			vec.Gradient(acc, j.px[run*dim:to*dim], j.panels(p, q), j.pfac[run*outputs:to*outputs], dim, outputs, &w.Scratch)
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
	j.features, j.from, j.end = dst, block*b.m.Width, (block+n)*b.m.Width
	last := vec.Panels(j.end, vec.Panel)
	for p := j.from / vec.Panel; p < last; p = j.to {
		j.to = j.ready(p, last)
		j.run((*job).store, vec.Panels(j.rows, vec.Lanes), j.rows*(j.to-p)*vec.Panel*(b.m.Dim+16))
	}
}

// store is Features for a panel of rows and the frequencies that are ready.
func (j *job) store(w *worker, i int) {
	const perTile = 2 * vec.Panel * vec.Lanes
	dim, from, to := j.bank.m.Dim, i*vec.Lanes, min((i+1)*vec.Lanes, j.rows)
	x := sized(&w.x, vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	tile := sized(&w.acc, perTile)
	var t []float32 // phases from panel p on
	for p := j.first; p < j.to; p++ {
		if j.bank.m.Sampling == SORF {
			const size = vec.Panel * vec.Lanes
			if len(t) == 0 {
				t = w.phases(j.bank, x, p, min(p+j.bank.chunk(), j.to))
			}
			vec.FeaturesPhases(tile, j.bank.m.turns(), t[:size], &w.Scratch)
			t = t[size:]
		} else {
			vec.Features(tile, x, j.panels(p, p+1), dim, &w.Scratch)
		}
		for f := max(j.from, p*vec.Panel); f < min(j.end, (p+1)*vec.Panel); f++ {
			cos := tile[f%vec.Panel*vec.Lanes:]
			sin := cos[vec.Panel*vec.Lanes:]
			for r := range to - from {
				d := j.features[(from+r)*2*(j.end-j.from)+2*(f-j.from):]
				d[0], d[1] = cos[r], sin[r]
			}
		}
	}
}
