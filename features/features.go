package features

import "github.com/accrete-ml/accrete/internal/vec"

// Features sets dst to the features of the rows of x, rows x Dim, for one or
// more whole blocks from block on: a row of dst for each row of x. The length of
// dst determines the number of blocks.
func (b *Bank) Features(dst []float32, block int, x []float32) {
	j := b.prepare(x, 1)
	defer j.release()
	if j.rows == 0 {
		return
	}
	n := len(dst) / (2 * b.m.BlockSize * j.rows)
	if len(dst) != 2*n*b.m.BlockSize*j.rows || block < 0 || block+n > b.blocks {
		panic("features: Features: slice lengths do not match")
	}
	j.features, j.from, j.end = dst, block*b.m.BlockSize, (block+n)*b.m.BlockSize
	if b.featured() {
		j.featuresOwn()
		return
	}
	last := vec.Panels(j.end, vec.Panel)
	for p := j.from / vec.Panel; p < last; p = j.to {
		j.to = j.load(p, last)
		j.run((*job).featuresTask, vec.Panels(j.rows, vec.Lanes), j.cost(j.rows, j.to-p, 0))
	}
}

// featuresTask is Features for a panel of rows and the loaded frequencies.
func (j *job) featuresTask(w *worker, i int) {
	dim, from, to := j.bank.m.Dim, i*vec.Lanes, min((i+1)*vec.Lanes, j.rows)
	x := resize(&w.x, vec.Lanes*dim)
	vec.PackRows(x, j.x[from*dim:to*dim], dim)
	tile := resize(&w.acc, perTile)
	var t []float32 // phases from panel p on
	for p := j.first; p < j.to; p++ {
		if j.bank.structured() {
			const size = vec.Panel * vec.Lanes
			if len(t) == 0 {
				t = w.phases(j.bank, x, p, min(p+j.bank.chunk(), j.to))
			}
			vec.FeaturesPhases(tile, j.bank.m.phaseScale(), t[:size], &w.Scratch)
			t = t[size:]
		} else {
			vec.Features(tile, x, j.panels(p, p+1), dim, &w.Scratch)
		}
		for f := max(j.from, p*vec.Panel); f < min(j.end, (p+1)*vec.Panel); f++ {
			cos := tile[f%vec.Panel*vec.Lanes:]
			sin := cos[vec.Panel*vec.Lanes:]
			weight := float32(1)
			if j.bank.weights != nil {
				weight = j.bank.weights[f]
			}
			for r := range to - from {
				d := j.features[(from+r)*2*(j.end-j.from)+2*(f-j.from):]
				d[0], d[1] = float32(cos[r]*weight), float32(sin[r]*weight)
			}
		}
	}
}
