package features

import "github.com/accrete-ml/accrete/internal/vec"

// Featured is a Kernel whose random features are not the cosine and the sine of a
// frequency's product with the input, but pairs of numbers of its own: the mean over
// random features of the pair of x times the pair of y is the kernel's value, which is
// at most 1. Sample draws the parameters of random features, as many for each as Sizes
// says, in place of frequencies.
type Featured interface {
	Kernel

	// Sizes returns the number of parameters of a random feature of dim inputs, and the
	// length of a row as Prepare writes it.
	Sizes(dim int) (parameters, prepared int)

	// Prepare sets dst to what the random features need to know of the row x.
	Prepare(dst []float64, x []float32)

	// Pairs sets dst, two numbers for each random feature, to those of a prepared row.
	// w has the parameters. All of them are finite.
	Pairs(dst, x, w []float64)
}

// Parameters returns the number of random numbers that a random feature of a kernel
// consists of: a frequency of dim inputs has dim.
func Parameters(k Kernel, dim int) int { return Map{Kernel: k, Dim: dim}.parameters() }

// FeatureBytes returns the memory that a Bank takes for a random feature of dim inputs.
func FeatureBytes(k Kernel, dim int) int {
	most := 4 * dim
	switch k := k.(type) {
	case Featured:
		n, _ := k.Sizes(dim)
		return 8 * n
	case Auto:
		for _, c := range k.Candidates() {
			most = max(most, FeatureBytes(c, dim))
		}
	}
	return most
}

// parameters returns the number of random numbers that a random feature consists of:
// the coordinates of a frequency, or what a Featured kernel needs.
func (m Map) parameters() int {
	if k, ok := m.Kernel.(Featured); ok {
		n, _ := k.Sizes(m.Dim)
		return n
	}
	return m.Dim
}

// growOwn draws the parameters of blocks as far as there is memory for them.
func (b *Bank) growOwn() {
	size := b.m.BlockSize * b.m.parameters()
	for to := min(b.blocks, b.limit/(8*size)); len(b.own) < to*size; {
		block := len(b.own) / size
		b.own = append(b.own, make([]float64, size)...)
		b.drawOwn(b.own[block*size:], block, new(worker))
	}
}

// drawOwn sets dst to the parameters of a block.
func (b *Bank) drawOwn(dst []float64, block int, w *worker) {
	b.m.frequencies(resize(&w.frequencies, len(dst)), block, &w.source)
	for i, v := range w.frequencies {
		dst[i] = float64(v)
	}
}

// ownParameters returns the parameters of a block: those in memory, or drawn again.
func (w *worker) ownParameters(b *Bank, block int) []float64 {
	size := b.m.BlockSize * b.m.parameters()
	if at := block * size; at < len(b.own) {
		return b.own[at : at+size]
	}
	b.drawOwn(resize(&w.own, size), block, w)
	return w.own
}

// ownRowsPerTask is the number of rows that meet the parameters in the cache together.
const ownRowsPerTask = 32

// prepareOwn prepares all rows.
func (j *job) prepareOwn() (k Featured, prepared int) {
	k, dim := j.bank.m.Kernel.(Featured), j.bank.m.Dim
	_, prepared = k.Sizes(dim)
	resize(&j.prepared, j.rows*prepared)
	for r := range j.rows {
		k.Prepare(j.prepared[r*prepared:(r+1)*prepared], j.x[r*dim:(r+1)*dim])
	}
	return k, prepared
}

// ownPairs sets w.pairs to the pairs of a prepared row, rounded to float32.
func (w *worker) ownPairs(k Featured, x, parameters []float64, features int) []float64 {
	pairs := resize(&w.pairs, 2*features)
	k.Pairs(pairs, x, parameters)
	for i, v := range pairs {
		pairs[i] = float64(float32(v))
	}
	return pairs
}

// featuresOwn is Features for a Featured kernel.
func (j *job) featuresOwn() {
	k, prepared := j.prepareOwn()
	size := j.bank.m.BlockSize
	j.run(func(j *job, w *worker, i int) {
		block := j.from/size + i
		parameters := w.ownParameters(j.bank, block)
		for r := range j.rows {
			at := r*2*(j.end-j.from) + 2*i*size
			for f, v := range w.ownPairs(k, j.prepared[r*prepared:(r+1)*prepared], parameters, size) {
				j.features[at+f] = float32(v)
			}
		}
	}, (j.end-j.from)/size, j.cost(j.rows, vec.Panels(j.end-j.from, vec.Panel), 0))
}

// sumOwn adds to j.dst the sums over the random features from a block on, for a Featured
// kernel: for each row, score and block one vec.Dot, and their sum in the order of the
// blocks.
func (j *job) sumOwn(coef []float32, block int) {
	k, prepared := j.prepareOwn()
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
	j.run(func(j *job, w *worker, i int) {
		for from := 0; from < all; from += size {
			parameters, n := w.ownParameters(j.bank, block+from/size), min(size, all-from)
			for r := i * ownRowsPerTask; r < min((i+1)*ownRowsPerTask, j.rows); r++ {
				pairs := w.ownPairs(k, j.prepared[r*prepared:(r+1)*prepared], parameters, size/2)[:n]
				for c := range scores {
					j.dst[r*scores+c] += vec.Dot(pairs, columns[from*scores+c*n:from*scores+(c+1)*n])
				}
			}
		}
	}, vec.Panels(j.rows, ownRowsPerTask), j.cost(j.rows, vec.Panels(all/2, vec.Panel), scores))
}

// ownFeaturesPerTask is the number of random features of a task of gradientOwn.
const ownFeaturesPerTask = 16

// gradientOwn is Gradient for a Featured kernel: one vec.Dot for each feature, score and
// run of rows, and their sum in the order of the rows.
func (j *job) gradientOwn(g []float64) {
	k, prepared := j.prepareOwn()
	size, scores, n := j.bank.m.BlockSize, j.scores, j.bank.m.parameters()
	columns := resize(&j.columns, len(g)) // scores × rows
	for r := range j.rows {
		for c, v := range g[r*scores : (r+1)*scores] {
			columns[c*j.rows+r] = float64(float32(v))
		}
	}
	tasks := vec.Panels(size, ownFeaturesPerTask) // of a block
	j.run(func(j *job, w *worker, i int) {
		block, from := i/tasks, i%tasks*ownFeaturesPerTask
		to := min(from+ownFeaturesPerTask, size)
		parameters := w.ownParameters(j.bank, j.from/size+block)[from*n : to*n]
		dst := j.dst[2*(block*size+from)*scores : 2*(block*size+to)*scores]
		turned := resize(&w.turned, 2*(to-from)*vec.Run)
		for first := 0; first < j.rows; first += vec.Run {
			last := min(first+vec.Run, j.rows)
			for r := first; r < last; r++ {
				for f, v := range w.ownPairs(k, j.prepared[r*prepared:(r+1)*prepared], parameters, to-from) {
					turned[f*vec.Run+r-first] = v
				}
			}
			for f := range 2 * (to - from) {
				phi := turned[f*vec.Run : f*vec.Run+last-first]
				for c := range scores {
					dst[f*scores+c] += vec.Dot(phi, columns[c*j.rows+first:c*j.rows+last])
				}
			}
		}
	}, tasks*(j.end-j.from)/size, j.cost(j.rows, vec.Panels(j.end-j.from, vec.Panel), scores))
}
