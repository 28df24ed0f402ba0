package features

import (
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Bank holds the frequencies of the first blocks of a Map, in the layout of
// package internal/vec.
//
// The features of frequency w at x are cos(w·x) and sin(w·x), not normalised:
// a model's coefficients absorb the factor. Feature 2j is the cosine and 2j+1
// the sine of frequency j, counted over all blocks. Package internal/vec defines
// them to the last bit. As there, the magnitudes of inputs are clamped: above
// 2^50 to 2^50, and below 2^-50 to 0.
//
// The methods may be called concurrently, except for Limit and Grow, during which no other
// method may run. Large calls use several cores; the results do not depend on the number of
// cores.
type Bank struct {
	m       Map
	blocks  int
	limit   int       // largest size of w in bytes
	w       []float32 // packed frequencies; the last panel is padded with zeros
	own     []own     // parameters of a Featured kernel, instead of w
	words   []uint32  // random numbers of a structured sampling, instead of w
	weights []float32 // factors of the features, by frequency, if Leveraged; nil: 1
	idle    chan *job // memory for the next calls
}

// DefaultLimit is the memory for frequencies in bytes, unless Limit sets another.
const DefaultLimit = 1 << 30

// NewBank returns an empty Bank. It panics if m has no kernel or no dimension,
// or if its sampling cannot draw the frequencies of its kernel.
func NewBank(m Map) *Bank {
	m.check()
	m.BlockSize = m.blockSize()
	return &Bank{m: m, limit: DefaultLimit, idle: make(chan *job, 8)}
}

// Limit sets the memory for frequencies in bytes. Frequencies that do not fit are generated again
// in each call: the results are the same, but the call takes longer, especially for few rows. It
// panics if b has blocks already.
func (b *Bank) Limit(bytes int) {
	if b.blocks > 0 {
		panic("features: Limit called after Grow")
	}
	b.limit = bytes
}

// Map returns the Map whose blocks b holds.
func (b *Bank) Map() Map { return b.m }

// Blocks returns the number of blocks in b.
func (b *Bank) Blocks() int { return b.blocks }

// Grow adds blocks until b has at least this many.
func (b *Bank) Grow(blocks int) {
	if blocks <= b.blocks {
		return
	}
	from := b.blocks
	b.blocks = blocks
	if b.featured() {
		b.growOwn()
		return
	}
	if b.structured() {
		by, n := samplings[b.m.Sampling].structure, b.m.transform()
		size := by.words * n
		old, all := len(b.words)/size, vec.Panels(vec.Panels(blocks*b.m.BlockSize, vec.Panel)*vec.Panel, n)
		b.words = slices.Grow(b.words, (all-old)*size)[:all*size]
		for i := old; i < all; i++ {
			by.draw(b.m, b.words[size*i:size*(i+1)], i)
		}
		return
	}
	old, panel := len(b.w), vec.Panel*b.m.Dim
	kept := vec.Panels(blocks*b.m.BlockSize, vec.Panel)
	if most := b.limit / (4 * panel); kept > most {
		kept = most / panelsPerGroup * panelsPerGroup
	}
	b.w = slices.Grow(b.w, max(0, kept*panel-old))[:kept*panel]
	clear(b.w[min(old, len(b.w)):])
	b.growWeights(from, vec.Panels(kept*vec.Panel, b.m.BlockSize))
	j := b.job()
	defer j.release()
	j.growing = b.weights != nil
	j.pack(b.w, 0, from)
	j.growing = false
}

// structured reports whether phases come from transforms, and not from stored
// frequencies.
func (b *Bank) structured() bool { return samplings[b.m.Sampling].structure != nil }

// featured reports whether the kernel has features of its own.
func (b *Bank) featured() bool {
	_, ok := b.m.Kernel.(kernel.Featured)
	return ok
}
