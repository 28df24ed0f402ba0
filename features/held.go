package features

import (
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Held keeps the features of a block for some rows in memory, so that several products with them
// can be computed. The zero value is ready to use, by one goroutine at a time.
type Held struct {
	Team     *cores.Team // does the products; nil: as many goroutines as they justify
	Together int         // neighbouring runs of rows on one core, see cores.Team.RunNear; 0: 1
	Cache    *Cache      // of the bank and the rows; nil: none

	bank   *Bank
	rows   int
	skip   int       // frequencies of the first panel that are before the block
	panels int       // of frequencies
	f      []float32 // [panels][runs of rows]([panelsPerRun][2][vec.Panel][vec.Lanes] and a gap)

	// Of a product:
	of      []vec.Coordinates // the caller's, of each panel of rows
	factors []float32         // likewise, in panels
	inUse   []int             // scores with factors in each run of rows
	columns int               // of coefficients
	sums    []float64         // of whole panels of frequencies
	ofRuns  []float64         // sums of each of several runs of rows
	from    int               // the first of these runs
	packed  []float32         // coefficients in panels of columns
}

// perTile is the number of features of one panel of rows and one panel of frequencies.
const perTile = 2 * vec.Panel * vec.Lanes

// Holds reports whether a Held can keep the features of b. It cannot for a Featured kernel, or if
// the features have weights.
func (b *Bank) Holds() bool { return !b.featured() && b.m.Leverage == nil }

// HoldGradient computes the features of a block, keeps them in h, and sets dst to their gradient,
// with the same bits as Gradient.
//
// x is that many rows, packed by vec.PackRows, and of has the coordinates of each panel of them.
// dst, features x scores, becomes the sums over the rows of the features times the row's factors g.
// g is packed as by vec.PackFactors, [panels of rows][scores][vec.Lanes], and ends in zeros. In run
// i of vec.Run rows, only the first inUse[i] scores have factors other than 0. HoldGradient panics
// unless b Holds features.
func (b *Bank) HoldGradient(h *Held, block int, x []float32, of []vec.Coordinates, rows int, dst []float64, g []float32, scores int, inUse []int) {
	panels := vec.Panels(rows, vec.Lanes)
	if !b.Holds() || block < 0 || block >= b.blocks || len(x) != panels*vec.Lanes*b.m.Dim || len(of) != panels {
		panic("features: HoldGradient of features that cannot be held, of no block or of other rows")
	}
	if len(dst) != 2*b.m.BlockSize*scores || len(g) != panels*scores*vec.Lanes || len(inUse) != vec.Panels(rows, vec.Run) {
		panic("features: HoldGradient: slice lengths do not match")
	}
	j := b.job()
	defer j.release()
	j.x, j.rows, j.scores, j.team = x, rows, scores, h.Team
	from, end := block*b.m.BlockSize, (block+1)*b.m.BlockSize
	j.from, j.end = from/vec.Panel, vec.Panels(end, vec.Panel)
	h.bank, h.rows, h.skip, h.panels = b, j.rows, from%vec.Panel, j.end-j.from
	if size := h.panels * h.perPanel(); cap(h.f) < size {
		h.f = make([]float32, size, size+size/8) // windows grow by a few rows at a time
	} else {
		h.f = h.f[:size]
	}
	clear(resize(&h.sums, h.panels*2*vec.Panel*scores))
	j.held, h.of, h.factors, h.inUse = h, of, g, inUse
	h.prepare(j.from, j.end)
	if j.rows > 0 {
		j.holdGradient()
	}
	copy(dst, h.sums[2*h.skip*scores:])
	h.of, h.factors, h.inUse = nil, nil, nil
}

// holdGradient fills the features and the sums. If all frequencies are loaded, it goes through the
// rows once, so that the features of a run are still in the cache when they are multiplied. With
// several cores, each run first has sums of its own. Then each core adds up a part of the sums of
// all runs, in order, and that part stays in the cache of the core.
func (j *job) holdGradient() {
	h, runs := j.held, len(j.held.inUse)
	hold, spread := j.cost(j.rows, h.panels, 0), h.rows*h.panels*vec.Panel*2*j.scores
	if j.to = j.load(j.from, j.end); j.to == j.end {
		if j.goroutines(runs, hold+spread) == 1 {
			j.run((*job).holdRunsTask, 1, 0)
			return
		}
		together := max(j.goroutines(runs, hold+spread), sumsOfRuns/len(h.sums))
		for h.from = 0; h.from < runs; h.from += together {
			n := min(together, runs-h.from)
			resize(&h.ofRuns, n*len(h.sums))
			j.together = max(1, h.Together)
			j.run((*job).holdRunTask, n, hold+spread)
			j.together = 0
			j.run((*job).addRunsTask, vec.Panels(len(h.sums), sumsPerTask), hold+spread)
		}
		return
	}
	for {
		j.run((*job).holdTask, h.rowPanels(), j.cost(j.rows, j.to-j.first, 0))
		if j.to == j.end {
			break
		}
		j.to = j.load(j.to, j.end)
	}
	j.run((*job).spreadTask, h.panels, spread)
}

// holdRunsTask does all of the work, one run of rows after the other.
func (j *job) holdRunsTask(w *worker, _ int) {
	for run := range j.held.inUse {
		j.holdRun(w, run, j.held.sums)
	}
}

// sumsOfRuns is the number of sums, 4 MB, that are kept for runs that are computed together. There
// are more if one run for each core needs them. sumsPerTask is the number of sums of all rows that
// a core computes at a time.
const sumsOfRuns, sumsPerTask = 4 << 20 / 8, 512

// holdRunTask computes a run of rows, with sums of its own.
func (j *job) holdRunTask(w *worker, i int) {
	n := len(j.held.sums)
	sums := j.held.ofRuns[i*n : (i+1)*n]
	clear(sums)
	j.holdRun(w, j.held.from+i, sums)
}

// addRunsTask adds some of the sums of runs to those of all rows.
func (j *job) addRunsTask(_ *worker, i int) {
	sums, runs := j.held.sums, j.held.ofRuns
	from, to := i*sumsPerTask, min((i+1)*sumsPerTask, len(sums))
	for at := 0; at < len(runs); at += len(sums) {
		vec.Axpy(1, runs[at+from:at+to], sums[from:to])
	}
}

// holdRun makes the features of a run of rows and adds their products to the sums.
func (j *job) holdRun(w *worker, run int, sums []float64) {
	for i := run * panelsPerRun; i < min((run+1)*panelsPerRun, j.held.rowPanels()); i++ {
		j.holdTask(w, i)
	}
	for p := range j.held.panels {
		j.spread(w, p, run, sums)
	}
}

// panelsPerRun is the number of panels in a run of rows.
const panelsPerRun = vec.Run / vec.Lanes

func (h *Held) rowPanels() int { return vec.Panels(h.rows, vec.Lanes) }

// tiles returns the features of panel p of the frequencies, beginning with those for panel i of the
// rows. They are contiguous up to the end of the run of rows that has this panel.
func (h *Held) tiles(p, i int) []float32 {
	return h.f[p*h.perPanel()+tileAt(i) : (p+1)*h.perPanel()]
}

// tileAt returns where the features for panel i of the rows begin, within the features of a panel
// of frequencies.
func tileAt(i int) int { return i*perTile + i/panelsPerRun*heldGap }

// heldGap is the number of unused float32 after the features of a run of rows, 2 KB. Processors
// prefetch what follows the memory that they use. Without the gap, that would be the features of a
// run of another core, which would have to get them back before it can write them again.
const heldGap = 512

// perPanel is the size of the features of a panel of frequencies.
func (h *Held) perPanel() int {
	return vec.Panels(h.rowPanels(), panelsPerRun) * (panelsPerRun*perTile + heldGap)
}

// holdTask makes the features of a panel of rows and the loaded frequencies.
func (j *job) holdTask(w *worker, i int) {
	dim := j.bank.m.Dim
	x := j.x[i*vec.Lanes*dim : (i+1)*vec.Lanes*dim]
	var t []float32 // phases from panel p on
	cached := j.held.cached(i)
	for p := j.first; p < j.to; p++ {
		tile := j.held.tiles(p-j.from, i)[:perTile]
		if p < cached {
			vec.FeaturesPhases(tile, 1, j.phases(x, p, i), &w.Scratch)
			continue
		}
		if !j.bank.structured() {
			vec.FeaturesOf(tile, x, j.panels(p, p+1), dim, &j.held.of[i], &w.Scratch)
			continue
		}
		const size = vec.Panel * vec.Lanes
		if len(t) == 0 {
			t = w.phases(j.bank, x, p, min(p+j.bank.chunk(), j.to))
		}
		vec.FeaturesPhases(tile, j.bank.m.phaseScale(), t[:size], &w.Scratch)
		t = t[size:]
	}
}

// spreadTask computes the sums of a panel of frequencies over all runs of rows.
func (j *job) spreadTask(w *worker, p int) {
	for run := range j.held.inUse {
		j.spread(w, p, run, j.held.sums)
	}
}

// spread adds the products of a run of rows and a panel of frequencies to the sums.
func (j *job) spread(w *worker, p, run int, sums []float64) {
	h := j.held
	scores, from, to := h.inUse[run], run*panelsPerRun, min((run+1)*panelsPerRun, h.rowPanels())
	if scores > 0 {
		dst := sums[p*2*vec.Panel*j.scores : (p+1)*2*vec.Panel*j.scores]
		vec.Spread(dst, h.tiles(p, from)[:(to-from)*perTile], h.factors[from*j.scores*vec.Lanes:to*j.scores*vec.Lanes], scores, j.scores, &w.Scratch)
	}
}

// SumColumns returns the number of columns that Held.Sum needs for a number of scores: a multiple
// of vec.HeldColumns.
func SumColumns(scores int) int { return vec.Panels(scores, vec.HeldColumns) * vec.HeldColumns }

// SetCoefficients sets what Sum multiplies the features by: coef, features x scores.
func (h *Held) SetCoefficients(coef []float32, scores int) {
	if len(coef) != 2*h.bank.m.BlockSize*scores {
		panic("features: Held.SetCoefficients: slice lengths do not match")
	}
	size := h.panels * perPanel
	clear(resize(&h.packed, SumColumns(scores)/vec.HeldColumns*size))
	for i := range h.bank.m.BlockSize {
		at := h.skip + i
		for half := range 2 {
			to := h.packed[((at/vec.Panel*2+half)*vec.Panel+at%vec.Panel)*vec.HeldColumns:]
			for c, v := range coef[(2*i+half)*scores : (2*i+half+1)*scores] {
				to[c/vec.HeldColumns*size+c%vec.HeldColumns] = v
			}
		}
	}
	h.columns = scores
}

// perPanel is the number of coefficients of a panel of frequencies and one of columns.
const perPanel = 2 * vec.Panel * vec.HeldColumns

// Sum sets the first columns of dst, [SumColumns(scores)][vec.Lanes], to the sums of the features
// of each row of panel i times their coefficients, with the bits of Bank.SumBlocks. The contents of
// the other columns are undefined. Several goroutines may call it at the same time, each with a
// memory of its own, which is needed for blocks of several groups.
func (h *Held) Sum(dst []float64, i, columns int, memory *[]float64) {
	if len(dst) != SumColumns(h.columns)*vec.Lanes || i < 0 || i >= h.rowPanels() || columns > h.columns {
		panic("features: Held.Sum: slice lengths do not match")
	}
	f, stride := h.f[tileAt(i):], h.perPanel()
	for c := 0; c < columns; c += vec.HeldColumns {
		a := h.packed[c/vec.HeldColumns*h.panels*perPanel:][:h.panels*perPanel]
		dst := dst[c*vec.Lanes:][:vec.HeldColumns*vec.Lanes]
		n := min(vec.HeldColumns, columns-c)
		first := min(panelsPerGroup, h.panels)
		vec.HeldSum(dst, f, stride, a[:first*perPanel], n)
		for p := first; p < h.panels; p += panelsPerGroup { // the groups of a large block
			group := resize(memory, len(dst))
			vec.HeldSum(group, f[p*stride:], stride, a[p*perPanel:min(p+panelsPerGroup, h.panels)*perPanel], n)
			for l, v := range group[:n*vec.Lanes] {
				dst[l] += v
			}
		}
	}
}

// Rows writes the features of consecutive rows, beginning with row from, to dst: one row of
// features for each, with the bits of Bank.Features.
func (h *Held) Rows(dst []float32, from int) {
	size := 2 * h.bank.m.BlockSize
	for at, end := from, from+len(dst)/size; at < end; {
		lane := at % vec.Lanes
		n := min(vec.Lanes-lane, end-at)
		rows := dst[(at-from)*size : (at-from+n)*size]
		for i := range size / 2 {
			f := h.skip + i
			t := h.tiles(f/vec.Panel, at/vec.Lanes)[f%vec.Panel*vec.Lanes+lane:]
			cos, sin := t[:n], t[vec.Panel*vec.Lanes:][:n]
			for l, to := 0, 2*i; l < n; l, to = l+1, to+size {
				rows[to], rows[to+1] = cos[l], sin[l]
			}
		}
		at += n
	}
}
