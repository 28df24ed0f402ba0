package features

import "github.com/accrete-ml/accrete/internal/vec"

// Sum sets dst, rows x outputs, to the sums of the features of the rows of x,
// rows x Dim, times their coefficients: coef has a row of outputs for each
// feature, from feature 0 on, for all of b or fewer. The bits of a row's sums do
// not depend on the other rows.
func (b *Bank) Sum(dst []float64, x, coef []float32, outputs int) {
	j := b.prepare(x, outputs)
	defer j.release()
	m := len(coef) / (2 * outputs)
	if len(dst) != j.rows*outputs || len(coef) != 2*m*outputs || m > b.blocks*b.m.BlockSize {
		panic("features: Sum of slices that do not fit together")
	}
	clear(dst)
	j.dst = dst
	single := j.rows % vec.Lanes // rows that fill no panel
	if b.structured() || single > vec.MaxSumRows() || j.rows > single && m*b.m.Dim > len(b.w) {
		single = 0
	}
	j.rows -= single
	if j.rows > 0 {
		j.sumPanels(coef, 0)
	}
	if single > 0 {
		j.x, j.dst, j.rows = x[j.rows*b.m.Dim:], dst[j.rows*outputs:], single
		j.sumRows(coef)
	}
}

// SumBlocks is Sum for one or more whole blocks from block on; the length of coef
// determines their number. Its groups begin with the panel that contains their
// first frequency.
func (b *Bank) SumBlocks(dst []float64, block int, x, coef []float32, outputs int) {
	j := b.prepare(x, outputs)
	defer j.release()
	n := len(coef) / (2 * b.m.BlockSize * outputs)
	if len(dst) != j.rows*outputs || len(coef) != 2*n*b.m.BlockSize*outputs || block < 0 || block+n > b.blocks {
		panic("features: SumBlocks of slices that do not fit together")
	}
	clear(dst)
	if j.rows == 0 || n == 0 {
		return
	}
	j.dst = dst
	first := block * b.m.BlockSize
	skip := 2 * (first % vec.Panel) * outputs
	clear(resize(&j.padded, skip+len(coef))[:skip])
	copy(j.padded[skip:], coef)
	j.sumPanels(j.padded, first/vec.Panel)
}

// rowPanelsPerTask is the number of panels of rows that meet the frequencies in
// the cache together. With fewer in all, tasks are groups of frequencies.
const rowPanelsPerTask = 16

// sumPanels is Sum for rows in panels, with coefficients from a panel on.
func (j *job) sumPanels(coef []float32, from int) {
	outputs := j.outputs
	all, rows := from+vec.Panels(len(coef)/(2*outputs), vec.Panel), vec.Panels(j.rows, vec.Lanes)
	vec.PackCoefficients(resize(&j.packedCoef, 2*(all-from)*vec.Panel*outputs), coef, outputs)
	j.from = from
	if rows < rowPanelsPerTask && rows*vec.Lanes*outputs <= maxPartial/16 {
		j.sumGroups(all)
		return
	}
	j.perTask = panelsPerTask(rows, rowPanelsPerTask)
	for p := from; p < all; p = j.to {
		j.to = j.load(p, all)
		j.run((*job).sumTask, vec.Panels(rows, j.perTask), j.cost(j.rows, j.to-p, outputs))
	}
}

// sumTask adds the sums over the loaded frequencies to a few panels of rows. The
// frequencies that fit into the cache meet all of these rows before the next
// frequencies do.
func (j *job) sumTask(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	from := i * j.perTask * vec.Lanes
	to := min(from+j.perTask*vec.Lanes, j.rows)
	panels := vec.Panels(to-from, vec.Lanes)
	x := resize(&w.x, panels*vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	sum := resize(&w.sum, panels*vec.Lanes*outputs)
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
		a := j.packedCoef[2*(p-j.from)*vec.Panel*outputs : 2*(q-j.from)*vec.Panel*outputs]
		for l := range panels {
			dst, x, n := sum[l*vec.Lanes*outputs:(l+1)*vec.Lanes*outputs], x[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim], min(vec.Lanes, to-from-l*vec.Lanes)
			if j.bank.structured() {
				vec.SumPhases(dst, j.bank.m.phaseScale(), w.phases(j.bank, x, p, q), a, outputs, n, &w.Scratch)
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
