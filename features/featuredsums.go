package features

import "github.com/accrete-ml/accrete/internal/vec"

// featuresOwn is Features for a Featured kernel.
func (j *job) featuresOwn() {
	j.prepareOwn()
	size := j.bank.m.BlockSize
	j.run(func(j *job, w *worker, i int) {
		for panel := range vec.Panels(j.rows, vec.Lanes) {
			for f, v := range w.ownPairs(j, j.from/size+i, 0, size, panel) {
				r := panel*vec.Lanes + f/(2*size)
				j.features[r*2*(j.end-j.from)+2*i*size+f%(2*size)] = float32(v)
			}
		}
	}, (j.end-j.from)/size, j.cost(j.rows, vec.Panels(j.end-j.from, vec.Panel), 0))
}

// sumOwn is Sum for a Featured kernel: it adds the sums over the random features, beginning with
// the first one of a block, to j.dst. Each row, score and block takes one vec.Dot, and these are
// added in the order of the blocks.
func (j *job) sumOwn(coef []float32, block int) {
	j.prepareOwn()
	size, scores := 2*j.bank.m.BlockSize, j.scores
	all := len(coef) / scores
	columns := resize(&j.columns, len(coef)) // of each block, its scores × features
	for from := 0; from < all; from += size {
		n := min(size, all-from)
		for f := range n {
			for c, v := range coef[(from+f)*scores : (from+f+1)*scores] {
				columns[from*scores+c*n+f] = float64(v)
			}
		}
	}
	j.run(func(j *job, w *worker, panel int) {
		for from := 0; from < all; from += size {
			n := min(size, all-from)
			pairs := w.ownPairs(j, block+from/size, 0, size/2, panel)
			for i := 0; i < len(pairs); i += size {
				dst := j.dst[(panel*vec.Lanes+i/size)*scores:][:scores]
				for c := range dst {
					dst[c] += vec.Dot(pairs[i:i+n], columns[from*scores+c*n:from*scores+(c+1)*n])
				}
			}
		}
	}, vec.Panels(j.rows, vec.Lanes), j.cost(j.rows, vec.Panels(all/2, vec.Panel), scores))
}

// gradientOwn is Gradient for a Featured kernel. Each feature, score and run of rows takes one
// vec.Dot, and these are added in the order of the rows.
func (j *job) gradientOwn(g []float64) {
	j.prepareOwn()
	size, scores := j.bank.m.BlockSize, j.scores
	columns := resize(&j.columns, len(g)) // scores × rows
	for r := range j.rows {
		for c, v := range g[r*scores : (r+1)*scores] {
			columns[c*j.rows+r] = float64(float32(v))
		}
	}
	tasks := vec.Panels(size, chunk) // of a block
	j.run(func(j *job, w *worker, i int) {
		block, from := i/tasks, i%tasks*chunk
		to := min(from+chunk, size)
		width := 2 * (to - from)
		dst := j.dst[2*(block*size+from)*scores : 2*(block*size+to)*scores]
		turned := resize(&w.byFeature, width*vec.Run)
		for first := 0; first < j.rows; first += vec.Run {
			last := min(first+vec.Run, j.rows)
			for panel := first / vec.Lanes; panel*vec.Lanes < last; panel++ {
				for f, v := range w.ownPairs(j, j.from/size+block, from, to, panel) {
					turned[f%width*vec.Run+panel*vec.Lanes+f/width-first] = v
				}
			}
			for f := range width {
				phi := turned[f*vec.Run : f*vec.Run+last-first]
				for c := range scores {
					dst[f*scores+c] += vec.Dot(phi, columns[c*j.rows+first:c*j.rows+last])
				}
			}
		}
	}, tasks*(j.end-j.from)/size, j.cost(j.rows, vec.Panels(j.end-j.from, vec.Panel), scores))
}
