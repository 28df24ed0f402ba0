package features

import "github.com/accrete-ml/accrete/internal/vec"

// Cache stores the phases of rows for a Held. If a block is used again, only the phases of rows
// that have changed are computed. Only rows with many non-zero inputs are cached: for others,
// computing the phases takes no longer than reading them from memory. A Cache belongs to one Bank
// with independent frequencies, and to one array of rows. The zero value is empty.
type Cache struct {
	// runs has the phases of each panel of frequencies and run of rows,
	// [panelsPerRun][vec.Panel][vec.Lanes], or nil without memory for them.
	runs [][][]float32

	valid [][]bool // whether phases are stored, by panel of rows and panel of frequencies
	known int      // frequencies of the bank when it was last used
	spare [][]float32
	ahead ahead
}

const (
	// cachedInputs is the number of non-zero inputs from which on rows are cached.
	// docs/performance.md has the times.
	cachedInputs = 256

	// mostCached is the number of frequencies, counted from the first one, whose phases a Cache
	// stores: 128 MiB for 8,192 rows.
	mostCached = 4096
)

// CachedNumbers returns the largest number of float32 in a Cache for this many rows, frequencies
// and inputs.
func CachedNumbers(rows, frequencies, inputs int) int {
	if inputs < cachedInputs {
		return 0
	}
	return vec.Panels(rows, vec.Run) * vec.Run * vec.Panels(min(frequencies, mostCached), vec.Panel) * vec.Panel
}

// Forget tells c that rows of a panel have changed.
func (c *Cache) Forget(panel int) {
	if panel < len(c.valid) {
		clear(c.valid[panel])
	}
}

// Take moves the memory of old to c, and leaves old empty.
func (c *Cache) Take(old *Cache) {
	c.spare = append(c.spare, old.spare...)
	for _, runs := range old.runs {
		for _, t := range runs {
			if t != nil {
				c.spare = append(c.spare, t)
			}
		}
	}
	*old = Cache{}
}

// caches reports whether h caches the phases of a panel of rows with these coordinates.
func (h *Held) caches(of *vec.Coordinates) bool {
	return h.Cache != nil && !h.bank.structured() && of.Products(h.bank.m.Dim) >= cachedInputs
}

// prepare makes room in the cache of h for the phases of its rows and the panels [from, end) of the
// frequencies.
func (h *Held) prepare(from, end int) {
	c := h.Cache
	if c == nil || h.bank.m.Dim < cachedInputs {
		return
	}
	if known := h.bank.blocks * h.bank.m.BlockSize; known > c.known {
		if p := c.known / vec.Panel; c.known%vec.Panel > 0 { // the panel has more frequencies now
			for _, valid := range c.valid {
				if p < len(valid) {
					valid[p] = false
				}
			}
		}
		c.known = known
	}
	end = min(end, vec.Panels(mostCached, vec.Panel))
	for i := range h.of {
		if h.caches(&h.of[i]) {
			c.room(i, from, end)
		}
	}
}

// room makes room for the phases of panel i of the rows and the panels [from, end) of the
// frequencies.
func (c *Cache) room(i, from, end int) {
	run := i / panelsPerRun
	c.valid = atLeast(c.valid, i+1)
	c.valid[i] = atLeast(c.valid[i], end)
	c.runs = atLeast(c.runs, end)
	for p := from; p < end; p++ {
		c.runs[p] = atLeast(c.runs[p], run+1)
		if c.runs[p][run] == nil {
			c.runs[p][run] = c.memory()
		}
	}
}

// tile returns the memory for the phases of panel i of the rows and panel p of the frequencies.
func (c *Cache) tile(p, i int) []float32 {
	at := i % panelsPerRun * phaseTile
	return c.runs[p][i/panelsPerRun][at : at+phaseTile]
}

// atLeast returns s with zero values appended until it has n elements.
func atLeast[T any](s []T, n int) []T {
	if len(s) < n {
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}

// memory returns a slice for the phases of a run of rows and a panel of frequencies.
func (c *Cache) memory() []float32 {
	if last := len(c.spare) - 1; last >= 0 {
		t := c.spare[last]
		c.spare = c.spare[:last]
		return t
	}
	return make([]float32, vec.Run*vec.Panel)
}

// cached returns for how many panels of the frequencies, from the first on, the phases of panel i of
// the rows are cached.
func (h *Held) cached(i int) int {
	if h.bank.m.Dim < cachedInputs || !h.caches(&h.of[i]) {
		return 0
	}
	return len(h.Cache.valid[i])
}

// phases returns the cached phases of panel i of the rows, x, and panel p of the frequencies, which
// is loaded. If they are missing, it computes and stores them first.
func (j *job) phases(x []float32, p, i int) []float32 {
	c := j.held.Cache
	t, valid := c.tile(p, i), &c.valid[i][p]
	if !*valid {
		vec.Phases(t, x, j.panels(p, p+1), j.bank.m.Dim, &j.held.of[i])
		*valid = true
	}
	return t
}
