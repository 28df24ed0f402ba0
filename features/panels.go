package features

import "github.com/accrete-ml/accrete/internal/vec"

// panelsPerGroup is the number of panels in a group, the unit of vec.Sum.
const panelsPerGroup = vec.Group / vec.Panel

// normalCost is the cost of generating a number of a frequency, in multiply-adds:
// BenchmarkGrow against BenchmarkPredict.
const normalCost = 20

// pack generates the frequencies of the blocks from, from+1, ... and packs them
// into w, which begins with panel p, up to its end.
func (j *job) pack(w []float32, p, from int) {
	b := j.bank
	j.packed, j.firstPacked, j.block = w, p*vec.Panel, from
	to := min(b.blocks, vec.Panels(j.firstPacked+len(w)/b.m.Dim, b.m.BlockSize))
	j.run((*job).packTask, max(0, to-from), max(0, to-from)*b.m.BlockSize*b.m.Dim*normalCost)
}

// packTask is pack for one block.
func (j *job) packTask(w *worker, i int) {
	m, block := j.bank.m, j.block+i
	all := resize(&w.frequencies, m.BlockSize*m.Dim)
	first := block * m.BlockSize
	if j.growing {
		w.source.Reset(m.Seed, uint64(block))
		m.leveraged(all, j.bank.weights[first:first+m.BlockSize], &w.source)
	} else {
		m.frequencies(all, block, &w.source)
	}
	from, to := max(first, j.firstPacked), min(first+m.BlockSize, j.firstPacked+len(j.packed)/m.Dim)
	vec.PackFrequencies(j.packed, all[(from-first)*m.Dim:(to-first)*m.Dim], from-j.firstPacked, m.Dim)
}

// generatedSize is the number of float32 of frequencies that are generated
// together when the bank does not store them: 4 MB.
const generatedSize = 4 << 20 / 4

// load makes the packed frequencies of the panels from p on available in j.w, and
// returns the panel after the last of them, at most to. Stored frequencies are
// available at once, and others are generated, a few megabytes at a time.
func (j *job) load(p, to int) int {
	b := j.bank
	size := vec.Panel * b.m.Dim
	j.first = p
	if b.structured() {
		return to
	}
	kept := len(b.w) / size
	if kept < to { // groups are counted from p
		kept = p + max(0, kept-p)/panelsPerGroup*panelsPerGroup
	}
	if p < kept {
		to = min(to, kept)
		j.w = b.w[p*size : to*size]
		return to
	}
	to = min(to, p+max(1, generatedSize/(size*panelsPerGroup))*panelsPerGroup)
	j.w = resize(&j.generated, (to-p)*size)
	clear(j.w[max(0, len(j.w)-size):])
	j.pack(j.w, p, p*vec.Panel/b.m.BlockSize)
	return to
}

// panels returns the packed frequencies of the panels p to q, which are loaded.
func (j *job) panels(p, q int) []float32 {
	size := vec.Panel * j.bank.m.Dim
	return j.w[(p-j.first)*size : (q-j.first)*size]
}

// prepare returns a job for the rows of x.
func (b *Bank) prepare(x []float32, scores int) *job {
	if scores < 1 || len(x)%b.m.Dim != 0 {
		panic("features: rows do not have the dimension of the bank, or there are no scores")
	}
	j := b.job()
	j.x, j.rows, j.scores = x, len(x)/b.m.Dim, scores
	return j
}

// chunk returns the number of panels, in whole groups, that are processed
// together: about as many as fit into the cache, or three transforms.
func (b *Bank) chunk() int {
	if b.structured() {
		return max(panelsPerGroup, 3*b.m.transform()/vec.Panel)
	}
	return max(1, cacheSize/(vec.Group*b.m.Dim)) * panelsPerGroup
}

// phases returns the phases of a panel of rows x for the panels p to q of a
// structured sampling, up to the factor Map.phaseScale.
func (w *worker) phases(b *Bank, x []float32, p, q int) []float32 {
	by, n := samplings[b.m.Sampling].structure, b.m.transform()
	size := by.words * n
	from, to := p*vec.Panel/n, vec.Panels(q*vec.Panel, n)
	t := resize(&w.phase, (to-from)*n*vec.Lanes)
	for i := from; i < to; i++ {
		by.apply(t[(i-from)*n*vec.Lanes:(i-from+1)*n*vec.Lanes], x, b.words[size*i:size*(i+1)], n, b.m.Dim)
	}
	return t[(p*vec.Panel-from*n)*vec.Lanes : (q*vec.Panel-from*n)*vec.Lanes]
}

// cacheSize is the number of float32 that remain in the second-level cache of a core together with
// the other data of a task: 192 KiB, where the smallest caches have 256 KiB.
const cacheSize = 192 << 10 / 4
