package features

import (
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Parameters returns the number of random numbers that a random feature of a kernel
// consists of: a frequency of dim inputs has dim.
func Parameters(k kernel.Kernel, dim int) int { return Map{Kernel: k, Dim: dim}.parameters() }

// FeatureBytes returns the memory that a Bank takes for a random feature of dim inputs.
func FeatureBytes(k kernel.Kernel, dim int) int {
	most := 4 * dim
	switch k := k.(type) {
	case kernel.Featured:
		n, _ := k.Sizes(dim)
		return 8 * n
	case kernel.Auto:
		for _, c := range k.Candidates() {
			most = max(most, FeatureBytes(c, dim))
		}
	}
	return most
}

// parameters returns the number of random numbers that a random feature consists of:
// the coordinates of a frequency, or what a Featured kernel needs.
func (m Map) parameters() int {
	if k, ok := m.Kernel.(kernel.Featured); ok {
		n, _ := k.Sizes(m.Dim)
		return n
	}
	return m.Dim
}

// own is the parameters of a block of a Featured kernel.
type own struct {
	numbers []float64
	packed  []float32 // of a linear kernel, instead: the vectors of each chunk in panels
}

// chunk is the number of random features that are computed together: with one, two or four
// vectors each they fill whole panels.
const chunk = 2 * vec.Panel

// growOwn draws the parameters of blocks as far as there is memory for them.
func (b *Bank) growOwn() {
	most := b.limit / (8 * b.m.BlockSize * b.m.parameters())
	var w worker
	for len(b.own) < min(b.blocks, most) {
		b.own = append(b.own, own{})
		b.drawOwn(&b.own[len(b.own)-1], len(b.own)-1, &w)
	}
}

// drawOwn sets dst to the parameters of a block.
func (b *Bank) drawOwn(dst *own, block int, w *worker) {
	n := b.m.parameters()
	all := resize(&w.frequencies, b.m.BlockSize*n)
	b.m.frequencies(all, block, &w.source)
	if _, ok := b.m.Kernel.(kernel.Linear); !ok {
		for i := range resize(&dst.numbers, len(all)) {
			dst.numbers[i] = float64(all[i])
		}
		return
	}
	_, long := b.m.Kernel.(kernel.Featured).Sizes(b.m.Dim)
	dst.packed = dst.packed[:0]
	for ; len(all) > 0; all = all[min(chunk*n, len(all)):] {
		vectors := all[:min(chunk*n, len(all))]
		for ; len(vectors) > 0; vectors = vectors[min(vec.Panel*long, len(vectors)):] {
			for k := range long {
				for i := range vec.Panel {
					v := float32(0)
					if i*long < len(vectors) {
						v = vectors[i*long+k]
					}
					dst.packed = append(dst.packed, v)
				}
			}
		}
	}
}

// parametersOf returns the parameters of a block. It draws them again if they are not in memory.
func (w *worker) parametersOf(b *Bank, block int) *own {
	if block < len(b.own) {
		return &b.own[block]
	}
	b.drawOwn(&w.own, block, w)
	return &w.own
}

// prepareOwn prepares all rows. For a linear kernel it also packs them into panels.
func (j *job) prepareOwn() {
	k, dim := j.bank.m.Kernel.(kernel.Featured), j.bank.m.Dim
	_, j.long = k.Sizes(dim)
	resize(&j.prepared, j.rows*j.long)
	for r := range j.rows {
		k.Prepare(j.prepared[r*j.long:(r+1)*j.long], j.x[r*dim:(r+1)*dim])
	}
	if _, ok := k.(kernel.Linear); !ok {
		return
	}
	panels := vec.Panels(j.rows, vec.Lanes)
	clear(resize(&j.packedX, panels*vec.Lanes*j.long))
	for i, v := range j.prepared {
		r, at := i/j.long, i%j.long
		j.packedX[(r/vec.Lanes*j.long+at)*vec.Lanes+r%vec.Lanes] = float32(v)
	}
}

// ownPairs sets w.pairs, rows x 2(to-from), to the pairs of the random features [from, to) of a
// block for a panel of rows, rounded to float32. from is a multiple of chunk.
func (w *worker) ownPairs(j *job, block, from, to, panel int) []float64 {
	p, n, width := w.parametersOf(j.bank, block), j.bank.m.parameters(), 2*(to-from)
	first, last := panel*vec.Lanes, min((panel+1)*vec.Lanes, j.rows)
	pairs := resize(&w.pairs, (last-first)*width)
	if k, ok := j.bank.m.Kernel.(kernel.Linear); ok {
		vectors := n / j.long
		panelsOf := vec.Panels(chunk*vectors, vec.Panel)
		x := j.packedX[panel*vec.Lanes*j.long : (panel+1)*vec.Lanes*j.long]
		for at := from; at < to; at += chunk {
			end := min(at+chunk, to)
			count := (end - at) * vectors
			products := resize(&w.products, vec.Panels(count, vec.Panel)*vec.Panel*vec.Lanes)
			for i := range vec.Panels(count, vec.Panel) {
				size := vec.Panel * j.long
				weights := p.packed[(at/chunk*panelsOf+i)*size:][:size]
				vec.Project(products[i*vec.Panel*vec.Lanes:(i+1)*vec.Panel*vec.Lanes], x, weights, j.long)
			}
			row := resize(&w.turned, count)
			for r := range last - first {
				for i := range row {
					row[i] = float64(products[i*vec.Lanes+r])
				}
				k.FromProducts(pairs[r*width+2*(at-from):r*width+2*(end-from)], row)
			}
		}
	} else {
		for r := first; r < last; r++ {
			j.bank.m.Kernel.(kernel.Featured).Pairs(pairs[(r-first)*width:(r-first+1)*width], j.prepared[r*j.long:(r+1)*j.long], p.numbers[from*n:to*n])
		}
	}
	for i, v := range pairs {
		pairs[i] = float64(float32(v))
	}
	return pairs
}
