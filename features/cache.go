package features

import "github.com/accrete-ml/accrete/internal/vec"

// Cache keeps phases of rows for Held, for blocks that come back while most of the rows are still
// there. Only rows with many numbers are in it: the phases of others take no longer to compute than
// to get from memory. It is of one Bank, whose frequencies are independent, and of rows that are
// always in the same place. The zero value is empty.
type Cache struct {
	runs  [][][]float32 // of each panel of frequencies and run of rows: [panelsPerRun][vec.Panel][vec.Lanes]; nil: none
	valid [][]bool      // of each panel of rows and panel of frequencies
	known int           // frequencies of the bank when it was last used
	spare [][]float32
}

const (
	// CachedInputs is the number of inputs from which on phases are in a Cache, if the rows have
	// as many that are not 0: docs/performance.md has the times.
	CachedInputs = 256

	// mostCached is the number of the first frequencies whose phases are in a Cache: 128 MiB for
	// 8,192 rows.
	mostCached = 4096
)

// CachedNumbers returns the most float32 in a Cache for that many rows and frequencies.
func CachedNumbers(rows, frequencies, inputs int) int {
	if inputs < CachedInputs {
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

// Take gives the memory of old, which is used no more, to c.
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

// caches reports whether phases of rows with those coordinates are in the cache.
func (h *Held) caches(of vec.Coordinates) bool {
	return h.Cache != nil && !h.bank.structured() && of.Products(h.bank.m.Dim) >= CachedInputs
}

// prepare makes room in the cache of h for the phases of its rows and the panels [from, end) of the
// frequencies.
func (h *Held) prepare(from, end int) {
	c := h.Cache
	if c == nil || h.bank.m.Dim < CachedInputs {
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
	for i, of := range h.of {
		if !h.caches(of) {
			continue
		}
		for len(c.valid) <= i {
			c.valid = append(c.valid, nil)
		}
		for len(c.valid[i]) < end {
			c.valid[i] = append(c.valid[i], false)
		}
		run := i / panelsPerRun
		for p := from; p < end; p++ {
			for len(c.runs) <= p {
				c.runs = append(c.runs, nil)
			}
			for len(c.runs[p]) <= run {
				c.runs[p] = append(c.runs[p], nil)
			}
			if c.runs[p][run] == nil {
				c.runs[p][run] = c.memory()
			}
		}
	}
}

// memory returns that for the phases of a run of rows and a panel of frequencies.
func (c *Cache) memory() []float32 {
	if last := len(c.spare) - 1; last >= 0 {
		t := c.spare[last]
		c.spare = c.spare[:last]
		return t
	}
	return make([]float32, vec.Run*vec.Panel)
}

// cached returns the phases of panel i of the rows, x, and the loaded panel p of the frequencies from
// the cache, where they are afterwards; nil if they are not to be there.
func (j *job) cached(x []float32, p, i int) []float32 {
	h := j.held
	if j.bank.m.Dim < CachedInputs || !h.caches(h.of[i]) || p >= len(h.Cache.valid[i]) {
		return nil
	}
	at, valid := i%panelsPerRun*phaseTile, &h.Cache.valid[i][p]
	t := h.Cache.runs[p][i/panelsPerRun][at : at+phaseTile]
	if !*valid {
		vec.Phases(t, x, j.panels(p, p+1), j.bank.m.Dim, h.of[i])
		*valid = true
	}
	return t
}
