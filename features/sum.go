package features

import "github.com/accrete-ml/accrete/internal/vec"

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
	if b.structured() || few > vec.Few() || j.rows > few && m*b.m.Dim > len(b.w) {
		few = 0
	}
	j.rows -= few
	if j.rows > 0 {
		j.sumPanels(coef, 0)
	}
	if few > 0 {
		j.x, j.dst, j.rows = x[j.rows*b.m.Dim:], dst[j.rows*outputs:], few
		j.sumFew(coef)
	}
}

// SumBlocks is Sum of the features of one or more whole blocks alone, from
// block on: the length of coef says how many. Its groups begin with the panel
// that the first of them is in.
func (b *Bank) SumBlocks(dst []float64, block int, x, coef []float32, outputs int) {
	j := b.prepare(x, outputs)
	defer j.done()
	n := len(coef) / (2 * b.m.Width * outputs)
	if len(dst) != j.rows*outputs || len(coef) != 2*n*b.m.Width*outputs || block < 0 || block+n > b.blocks {
		panic("features: SumBlocks of slices that do not fit together")
	}
	clear(dst)
	if j.rows == 0 || n == 0 {
		return
	}
	j.dst = dst
	first := block * b.m.Width
	skip := 2 * (first % vec.Panel) * outputs
	clear(sized(&j.padded, skip+len(coef))[:skip])
	copy(j.padded[skip:], coef)
	j.sumPanels(j.padded, first/vec.Panel)
}

// sumPanels is Sum for rows in panels, of coefficients from a panel on.
func (j *job) sumPanels(coef []float32, from int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	all, rows := from+vec.Panels(len(coef)/(2*outputs), vec.Panel), vec.Panels(j.rows, vec.Lanes)
	vec.PackCoefficients(sized(&j.pcoef, 2*(all-from)*vec.Panel*outputs), coef, outputs)
	j.from = from
	if rows < 16 && rows*vec.Lanes*outputs <= mostPartial/16 {
		j.sumGroups(all)
		return
	}
	j.per = share(rows, 16)
	for p := from; p < all; p = j.to {
		j.to = j.ready(p, all)
		j.run((*job).sum, vec.Panels(rows, j.per), j.rows*(j.to-p)*vec.Panel*(dim+12+2*outputs))
	}
}

// mostPartial bounds sumGroups' memory: 2 MiB.
const mostPartial = 1 << 18

// sumGroups is sumPanels where the rows are too few for tasks of as much work:
// the tasks are of groups of all rows, and the groups are added afterwards, in
// order.
func (j *job) sumGroups(all int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	rows := vec.Panels(j.rows, vec.Lanes) * vec.Lanes
	vec.PackRows(sized(&j.px, rows*dim), j.x[:j.rows*dim], dim)
	sum, size := sized(&j.total, rows*outputs), rows*outputs
	clear(sum)
	atOnce := mostPartial / size * perGroup
	for p := j.from; p < all; p = j.to {
		j.to = j.ready(p, min(all, p+atOnce))
		groups := vec.Panels(j.to-p, perGroup)
		j.per = j.bank.chunk() / perGroup
		if !j.bank.structured() {
			j.per = max(1, min(j.per, groups/24))
		}
		clear(sized(&j.partial, groups*size))
		j.run((*job).groups, vec.Panels(groups, j.per), rows*(j.to-p)*vec.Panel*(dim+12+2*outputs))
		for g := range groups {
			for i, v := range j.partial[g*size : (g+1)*size] {
				sum[i] += v
			}
		}
	}
	for r := range j.rows {
		s := sum[r/vec.Lanes*vec.Lanes*outputs+r%vec.Lanes:]
		for c := range outputs {
			j.dst[r*outputs+c] = s[c*vec.Lanes]
		}
	}
}

// groups is what a few groups add to the rows.
func (j *job) groups(w *worker, i int) {
	dim, outputs := j.bank.m.Dim, j.outputs
	from := j.first + i*j.per*perGroup // panels
	to := min(from+j.per*perGroup, j.to)
	for l := range len(j.px) / (vec.Lanes * dim) {
		x, n := j.px[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim], min(vec.Lanes, j.rows-l*vec.Lanes)
		var t []float32 // phases from panel from on
		if j.bank.structured() {
			t = w.phases(j.bank, x, from, to)
		}
		for p := from; p < to; p += perGroup {
			q := min(p+perGroup, to)
			a := j.pcoef[2*(p-j.from)*vec.Panel*outputs : 2*(q-j.from)*vec.Panel*outputs]
			dst := j.partial[(p-j.first)/perGroup*len(j.total)+l*vec.Lanes*outputs:][:vec.Lanes*outputs]
			if t != nil {
				const size = vec.Panel * vec.Lanes
				vec.SumPhases(dst, j.bank.m.halfTurns(), t[(p-from)*size:(q-from)*size], a, outputs, n, &w.Scratch)
				continue
			}
			vec.Sum(dst, x, j.panels(p, q), a, dim, outputs, n, &w.Scratch)
		}
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
		j.run((*job).few, vec.Panels(groups, j.per), j.rows*(j.to-p)*vec.Panel*(j.bank.m.Dim+12+2*outputs))
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

// sum adds what the frequencies that are ready make of a few panels of rows.
// The frequencies that fit into a cache meet all of the rows before the next
// ones do.
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
		a := j.pcoef[2*(p-j.from)*vec.Panel*outputs : 2*(q-j.from)*vec.Panel*outputs]
		for l := range panels {
			dst, x, n := sum[l*vec.Lanes*outputs:(l+1)*vec.Lanes*outputs], x[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim], min(vec.Lanes, to-from-l*vec.Lanes)
			if j.bank.structured() {
				vec.SumPhases(dst, j.bank.m.halfTurns(), w.phases(j.bank, x, p, q), a, outputs, n, &w.Scratch)
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
