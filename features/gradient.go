package features

import "github.com/accrete-ml/accrete/internal/vec"

// Gradient sets dst to the sums over the rows of x, rows x Dim, of the features
// times the row's factors g, rows x scores, which are rounded to float32. dst
// has a row of scores for each feature of one or more whole blocks from block
// on; its length determines their number. The bits of a block's gradient do not
// depend on the blocks computed with it.
func (b *Bank) Gradient(dst []float64, block int, x []float32, g []float64, scores int) {
	j := b.prepare(x, scores)
	defer j.release()
	n := len(dst) / (2 * b.m.BlockSize * scores)
	if len(g) != j.rows*scores || len(dst) != 2*n*b.m.BlockSize*scores || block < 0 || block+n > b.blocks {
		panic("features: Gradient: slice lengths do not match")
	}
	clear(dst)
	if j.rows == 0 || n == 0 {
		return
	}
	j.dst, j.from, j.end = dst, block*b.m.BlockSize, (block+n)*b.m.BlockSize
	if b.featured() {
		j.gradientOwn(g)
		return
	}
	rows := vec.Panels(j.rows, vec.Lanes) * vec.Lanes
	vec.PackRows(resize(&j.packedX, rows*b.m.Dim), x, b.m.Dim)
	vec.PackFactors(resize(&j.packedFactors, rows*scores), g, scores)
	last := vec.Panels(j.end, vec.Panel)
	for p := j.from / vec.Panel; p < last; p = j.to {
		j.to = j.load(p, last)
		chains := cacheSize / 2 // of several scores, which are touched once a run
		if scores == 1 {
			chains = cacheSize / 8 // touched for each panel of rows
		}
		j.perTask = panelsPerTask(j.to-p, max(1, chains/vec.ChainsLen(vec.Panel, scores)))
		if b.structured() {
			j.perTask = b.chunk()
		}
		j.run((*job).gradientTask, vec.Panels(j.to-p, j.perTask), j.cost(j.rows, j.to-p, scores))
	}
}

// gradientTask is Gradient for a few panels of the loaded frequencies.
func (j *job) gradientTask(w *worker, i int) {
	dim, scores := j.bank.m.Dim, j.scores
	p := j.first + i*j.perTask
	q := min(p+j.perTask, j.to)
	from, to := max(j.from, p*vec.Panel), min(j.end, q*vec.Panel)
	dst := j.dst[2*(from-j.from)*scores : 2*(to-j.from)*scores]
	acc := resize(&w.acc, vec.ChainsLen((q-p)*vec.Panel, scores))
	for run := 0; run < j.rows; run += vec.Run {
		clear(acc)
		to := min(run+vec.Run, vec.Panels(j.rows, vec.Lanes)*vec.Lanes)
		if j.bank.structured() {
			for r := run; r < to; r += vec.Lanes {
				t := w.phases(j.bank, j.packedX[r*dim:(r+vec.Lanes)*dim], p, q)
				vec.GradientPhases(acc, j.bank.m.phaseScale(), t, j.packedFactors[r*scores:(r+vec.Lanes)*scores], scores, &w.Scratch)
			}
		} else {
			vec.Gradient(acc, j.packedX[run*dim:to*dim], j.panels(p, q), j.packedFactors[run*scores:to*scores], dim, scores, &w.Scratch)
		}
		vec.AddChains(dst, acc, from-p*vec.Panel, scores)
	}
	if j.bank.weights == nil {
		return
	}
	for i := range dst {
		dst[i] *= float64(j.bank.weights[from+i/(2*scores)])
	}
}
