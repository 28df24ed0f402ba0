package features

import "github.com/accrete-ml/accrete/internal/vec"

// maxPartial is the largest number of partial sums that sumGroups stores: 2 MiB.
const maxPartial = 1 << 18

// sumGroups is sumPanels for few rows, which do not make enough tasks: the tasks
// are groups of frequencies with all rows, and the partial sums are added
// afterwards, in order.
func (j *job) sumGroups(all int) {
	dim, scores := j.bank.m.Dim, j.scores
	rows := vec.Panels(j.rows, vec.Lanes) * vec.Lanes
	vec.PackRows(resize(&j.packedX, rows*dim), j.x[:j.rows*dim], dim)
	j.setCoordinates()
	if j.cache != nil && j.from == 0 && j.cache.ahead.begin(j, all) {
		j.ahead = &j.cache.ahead
	}
	sum, size := resize(&j.total, rows*scores), rows*scores
	clear(sum)
	atOnce := maxPartial / size * panelsPerGroup
	for p := j.from; p < all; p = j.to {
		j.to = j.load(p, min(all, p+atOnce))
		groups := vec.Panels(j.to-p, panelsPerGroup)
		j.perTask = j.bank.chunk() / panelsPerGroup // groups
		if !j.bank.structured() {
			// 24 tasks, so that several cores end at about the same time
			j.perTask = max(1, min(j.perTask, groups/24))
		}
		clear(resize(&j.partial, groups*size))
		j.run((*job).groupsTask, vec.Panels(groups, j.perTask), j.cost(rows, j.to-p, scores))
		for g := range groups {
			for i, v := range j.partial[g*size : (g+1)*size] {
				sum[i] += v
			}
		}
	}
	for r := range j.rows {
		s := sum[r/vec.Lanes*vec.Lanes*scores+r%vec.Lanes:]
		for c := range scores {
			j.dst[r*scores+c] = s[c*vec.Lanes]
		}
	}
}

// setCoordinates sets the coordinates of the packed rows, which all tasks need.
func (j *job) setCoordinates() {
	size := vec.Lanes * j.bank.m.Dim
	panels := len(j.packedX) / size
	for len(j.coordinates) < panels {
		j.coordinates = append(j.coordinates, vec.Coordinates{})
	}
	if j.bank.structured() {
		return
	}
	for l := range panels {
		j.coordinates[l].Set(j.packedX[l*size:(l+1)*size], j.bank.m.Dim)
	}
}

// groupsTask computes the partial sums of a few groups, for all rows.
func (j *job) groupsTask(w *worker, i int) {
	dim, scores := j.bank.m.Dim, j.scores
	from := j.first + i*j.perTask*panelsPerGroup // panels
	to := min(from+j.perTask*panelsPerGroup, j.to)
	for l := range len(j.packedX) / (vec.Lanes * dim) {
		x, n := j.packedX[l*vec.Lanes*dim:(l+1)*vec.Lanes*dim], min(vec.Lanes, j.rows-l*vec.Lanes)
		var t []float32 // phases from panel from on
		if j.bank.structured() {
			t = w.phases(j.bank, x, from, to)
		}
		for p := from; p < to; p += panelsPerGroup {
			q := min(p+panelsPerGroup, to)
			a := j.panelCoef[2*(p-j.from)*vec.Panel*scores : 2*(q-j.from)*vec.Panel*scores]
			dst := j.partial[(p-j.first)/panelsPerGroup*len(j.total)+l*vec.Lanes*scores:][:vec.Lanes*scores]
			if t != nil {
				const size = vec.Panel * vec.Lanes
				vec.SumPhases(dst, j.bank.m.phaseScale(), t[(p-from)*size:(q-from)*size], a, scores, n, &w.Scratch)
				continue
			}
			if t := j.ahead.of(l, p, q); t != nil {
				vec.Phases(t, x, j.panels(p, q), dim, &j.coordinates[l])
				vec.SumPhases(dst, 1, t, a, scores, n, &w.Scratch)
				continue
			}
			vec.SumOf(dst, x, j.panels(p, q), a, dim, scores, n, &j.coordinates[l], &w.Scratch)
		}
	}
}

// sumRows is Sum for rows that are too few for a panel, one by one. The tasks are
// groups of frequencies, and the partial sums are added afterwards, in order.
func (j *job) sumRows(coef []float32) {
	scores := j.scores
	m := len(coef) / (2 * scores)
	all := vec.Panels(m, vec.Panel)
	for p := 0; p < all; p = j.to {
		j.to = j.load(p, all)
		j.coef = coef[2*p*vec.Panel*scores : 2*min(m, j.to*vec.Panel)*scores]
		groups := vec.Panels(j.to-p, panelsPerGroup)
		j.perTask = max(8, groups/64*8) // groups: vec.SumRow takes eight together
		resize(&j.partial, groups*j.rows*scores)
		j.run((*job).rowsTask, vec.Panels(groups, j.perTask), j.cost(j.rows, j.to-p, scores))
		for g := range groups {
			for i, v := range j.partial[g*scores*j.rows : (g+1)*scores*j.rows] {
				j.dst[i] += v
			}
		}
	}
}

// rowsTask computes the partial sums of a few groups for each row.
func (j *job) rowsTask(w *worker, i int) {
	dim, scores := j.bank.m.Dim, j.scores
	from := i * j.perTask // groups
	to := min(from+j.perTask, vec.Panels(j.to-j.first, panelsPerGroup))
	coef := j.coef[2*from*vec.Group*scores : min(len(j.coef), 2*to*vec.Group*scores)]
	freq := j.panels(j.first+from*panelsPerGroup, min(j.to, j.first+to*panelsPerGroup))
	sum := resize(&w.sum, (to-from)*scores)
	for r := range j.rows {
		vec.SumRow(sum, j.x[r*dim:(r+1)*dim], freq, coef, dim, scores, &w.Scratch)
		for g := range to - from {
			copy(j.partial[((from+g)*j.rows+r)*scores:], sum[g*scores:(g+1)*scores])
		}
	}
}
