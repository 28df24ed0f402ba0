package features

import "github.com/accrete-ml/accrete/internal/vec"

// Sum sets dst, rows x scores, to the sums of the features of the rows of x,
// rows x Dim, times their coefficients: coef has a row of scores for each
// feature, from feature 0 on, for all of b or fewer. The bits of a row's sums do
// not depend on the other rows.
func (b *Bank) Sum(dst []float64, x, coef []float32, scores int) {
	b.SumPacked(dst, x, coef, scores, nil)
}

// SumPacked is Sum for coefficients that packed, unless it is nil, holds as well in packed form.
func (b *Bank) SumPacked(dst []float64, x, coef []float32, scores int, packed *Packed) {
	j := b.prepare(x, scores)
	defer j.release()
	m := len(coef) / (2 * scores)
	if len(dst) != j.rows*scores || len(coef) != 2*m*scores || m > b.blocks*b.m.BlockSize {
		panic("features: Sum: slice lengths do not match")
	}
	clear(dst)
	j.dst = dst
	if packed != nil {
		j.team = packed.Team
		j.cache = packed.Cache
	}
	if b.featured() {
		j.sumOwn(coef, 0)
		return
	}
	if b.weights == nil && packed.of(2*m, scores) {
		j.givenCoef = packed.coef
	}
	coef = j.weighted(coef, 0, scores)
	single := j.rows % vec.Lanes // rows that fill no panel
	if b.structured() || single > vec.MaxSumRows() || j.rows > single && m*b.m.Dim > len(b.w) {
		single = 0
	}
	j.rows -= single
	if j.rows > 0 {
		j.sumPanels(coef, 0)
	}
	if single > 0 {
		j.x, j.dst, j.rows = x[j.rows*b.m.Dim:], dst[j.rows*scores:], single
		j.sumRows(coef)
	}
}

// SumBlocks is Sum for one or more whole blocks from block on; the length of coef
// determines their number. Its groups begin with the panel that contains their
// first frequency.
func (b *Bank) SumBlocks(dst []float64, block int, x, coef []float32, scores int) {
	j := b.prepare(x, scores)
	defer j.release()
	n := len(coef) / (2 * b.m.BlockSize * scores)
	if len(dst) != j.rows*scores || len(coef) != 2*n*b.m.BlockSize*scores || block < 0 || block+n > b.blocks {
		panic("features: SumBlocks: slice lengths do not match")
	}
	clear(dst)
	if j.rows == 0 || n == 0 {
		return
	}
	j.dst = dst
	if b.featured() {
		j.sumOwn(coef, block)
		return
	}
	first := block * b.m.BlockSize
	coef = j.weighted(coef, first, scores)
	skip := 2 * (first % vec.Panel) * scores
	clear(resize(&j.padded, skip+len(coef))[:skip])
	copy(j.padded[skip:], coef)
	j.sumPanels(j.padded, first/vec.Panel)
}

// rowPanelsPerTask is the number of panels of rows that a task multiplies by the frequencies that
// are in the cache. If there are fewer panels of rows in all, tasks are groups of frequencies
// instead.
const rowPanelsPerTask = 16

// sumPanels is Sum for rows in panels, with coefficients from a panel on.
func (j *job) sumPanels(coef []float32, from int) {
	scores := j.scores
	all, rows := from+vec.Panels(len(coef)/(2*scores), vec.Panel), vec.Panels(j.rows, vec.Lanes)
	if j.panelCoef = j.givenCoef; j.panelCoef == nil {
		j.panelCoef = resize(&j.packedCoef, 2*(all-from)*vec.Panel*scores)
		vec.PackCoefficients(j.panelCoef, coef, scores)
	}
	j.from = from
	if rows < rowPanelsPerTask && rows*vec.Lanes*scores <= maxPartial/16 {
		j.sumGroups(all)
		return
	}
	j.perTask = panelsPerTask(rows, rowPanelsPerTask)
	for p := from; p < all; p = j.to {
		j.to = j.load(p, all)
		j.run((*job).sumTask, vec.Panels(rows, j.perTask), j.cost(j.rows, j.to-p, scores))
	}
}

// sumTask adds the sums over the loaded frequencies to a few panels of rows. It multiplies all of
// these rows by the frequencies that fit into the cache before it goes on to the next frequencies.
func (j *job) sumTask(w *worker, i int) {
	dim, scores := j.bank.m.Dim, j.scores
	from := i * j.perTask * vec.Lanes
	to := min(from+j.perTask*vec.Lanes, j.rows)
	panels := vec.Panels(to-from, vec.Lanes)
	x := resize(&w.x, panels*vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	sum := resize(&w.sum, panels*vec.Lanes*scores)
	at := func(r int) []float64 { return sum[(r-from)/vec.Lanes*vec.Lanes*scores+(r-from)%vec.Lanes:] }
	for r := from; r < to; r++ {
		s := at(r)
		for c, v := range j.dst[r*scores : (r+1)*scores] {
			s[c*vec.Lanes] = v
		}
	}
	chunk := j.bank.chunk()
	for p := j.first; p < j.to; p += chunk {
		q := min(p+chunk, j.to)
		a := j.panelCoef[2*(p-j.from)*vec.Panel*scores : 2*(q-j.from)*vec.Panel*scores]
		for l := range panels {
			dst, x, n := sum[l*vec.Lanes*scores:(l+1)*vec.Lanes*scores], x[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim], min(vec.Lanes, to-from-l*vec.Lanes)
			if j.bank.structured() {
				vec.SumPhases(dst, j.bank.m.phaseScale(), w.phases(j.bank, x, p, q), a, scores, n, &w.Scratch)
				continue
			}
			vec.SumOf(dst, x, j.panels(p, q), a, dim, scores, n, w.Coordinates(x, dim), &w.Scratch)
		}
	}
	for r := from; r < to; r++ {
		s := at(r)
		for c := range scores {
			j.dst[r*scores+c] = s[c*vec.Lanes]
		}
	}
}
