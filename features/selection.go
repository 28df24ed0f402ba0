package features

import (
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// AllowsSelection reports whether a Bank can hold some of the frequencies of m without the others.
// It cannot for a Featured kernel or a structured sampling, whose features are computed together.
func (m Map) AllowsSelection() bool {
	_, own := m.Kernel.(kernel.Featured)
	return !own && samplings[m.Sampling].structure == nil
}

// NewSelection returns a Bank of the frequencies of m for which selected is true, counted from the
// first frequency of m and in the same order, as blocks of one frequency. The Bank stores all of
// them, whatever its limit, and cannot grow. NewSelection panics if m does not allow selections.
func NewSelection(m Map, selected []bool) *Bank {
	m.check()
	if !m.AllowsSelection() {
		panic("features: the frequencies of the map cannot be selected")
	}
	m.BlockSize = m.blockSize()
	block, kept, weights := make([]float32, m.BlockSize*m.Dim), []float32(nil), []float32(nil)
	var s kernel.Source
	for from := 0; from < len(selected); from += m.BlockSize {
		var of []float32
		drawn := false
		for i, ok := range selected[from:min(from+m.BlockSize, len(selected))] {
			if !ok {
				continue
			}
			if !drawn {
				m.frequencies(block, from/m.BlockSize, &s)
				of, drawn = m.Weights(from/m.BlockSize), true
			}
			if of != nil {
				weights = append(weights, of[i])
			}
			kept = append(kept, block[i*m.Dim:(i+1)*m.Dim]...)
		}
	}
	m.BlockSize = 1
	b := &Bank{m: m, blocks: len(kept) / m.Dim, limit: DefaultLimit, weights: weights, idle: make(chan *job, 8)}
	b.w = make([]float32, vec.Panels(b.blocks, vec.Panel)*vec.Panel*m.Dim)
	vec.PackFrequencies(b.w, kept, 0, m.Dim)
	return b
}
