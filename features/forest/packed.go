package forest

import (
	"math"
	"math/bits"
)

// Trees that compare packedDraws thresholds in a column grow from integers. A row has the rank of
// its value in each column, and its targets are packed into bit fields of a few words, so that rows
// are summed by adding words. Sums of integers do not depend on the order of the rows.

const (
	// packedDraws is the number of thresholds that are compared in a column at a node, or fewer
	// if its rows have fewer values.
	packedDraws = 4

	// packedBits is the number of bits of a count of rows. The fields of a single row leave that
	// many bits free, so that a sum of mostPacked rows still fits.
	packedBits = 13
	mostPacked = 1<<packedBits - 1

	// exactBits is the number of bits of the integers that a float64 represents exactly. No sum has
	// more.
	exactBits = 53

	// maxWords is the largest number of words of a row.
	maxWords = 4
)

// words is what a row or a sum of rows has in its fields.
type words [maxWords]uint64

func (a *words) add(b *words) {
	for i, v := range b {
		a[i] += v
	}
}

func (a *words) sub(b *words) {
	for i, v := range b {
		a[i] -= v
	}
}

// packed is a sample, in whole numbers.
type packed struct {
	*Shared
	words  []uint64 // rows × used
	used   int      // words of a row: 1, 2 or 4
	rows   int
	size   int     // of a field, in bits
	mask   uint64  // of a field
	bias   int64   // added to targets, so that no field is negative; 0 for classes
	counts int     // index of the field that is 1 in each row; -1 for classes
	places []place // of the fields
}

// place is where the words of a row have a field.
type place struct{ word, shift uint8 }

// pack returns the rows of g as integers. It returns nil if the trees compare another number of
// thresholds than packedDraws, and if there are too many rows, rows with different weights, or
// targets that do not fit into the fields.
func (g *growth) pack(s *Sample) *packed {
	n := len(g.rows)
	if g.draws != packedDraws || !g.alike || n > mostPacked || n == 0 {
		return nil
	}
	p := &packed{rows: n, counts: -1}
	if g.classes != nil {
		p.layout(g.kinds, 4)
	} else {
		p.counts = g.kinds
		p.layout(g.kinds+1, 1)
	}
	if p.used == 0 {
		return nil
	}
	p.words = make([]uint64, n*p.used)
	if g.classes != nil {
		for i, r := range g.rows {
			p.put(i, int(g.classes[r]), 1)
		}
	} else if !p.packTargets(g) {
		return nil
	}
	p.Shared = s.Shared
	if p.Shared == nil {
		p.Shared = new(Shared)
	}
	if p.ranks == nil {
		p.rank(s, g.rows)
	}
	return p
}

// layout sets the places of that many fields. A word has least fields, or more if only then all
// fields fit into maxWords. If they do not fit at all, used is 0.
func (p *packed) layout(fields, least int) {
	for in := least; in <= 4; in++ {
		if used := (fields + in - 1) / in; used <= maxWords {
			p.size = 64 / in
			p.mask = 1<<p.size - 1
			p.used = 1 << bits.Len(uint(used-1))
			for i := range fields {
				p.places = append(p.places, place{uint8(i / in), uint8(i % in * p.size)})
			}
			return
		}
	}
}

// packTargets packs the targets of a regression, in units of a fraction of the largest magnitude.
// It reports whether the fields can hold them.
func (p *packed) packTargets(g *growth) bool {
	largest := 0.0
	for _, r := range g.rows {
		for _, y := range g.targets[int(r)*g.kinds:][:g.kinds] {
			largest = max(largest, math.Abs(y))
		}
	}
	p.bias = 1<<(min(p.size, exactBits)-packedBits-1) - 1
	unit := largest / float64(p.bias)
	if p.size-packedBits < 8 || !(unit > 0) || math.IsInf(unit, 1) {
		return false
	}
	for i, r := range g.rows {
		for k, y := range g.targets[int(r)*g.kinds:][:g.kinds] {
			p.put(i, k, uint64(p.bias+int64(math.Round(y/unit))))
		}
		p.put(i, p.counts, 1)
	}
	return true
}

// put sets a field of a row, which is 0, to v.
func (p *packed) put(row, field int, v uint64) {
	at := p.places[field]
	p.words[row*p.used+int(at.word)] |= v << at.shift
}

// threshold returns the threshold in a column above which rows go right, for a division that sends
// the ranks above at to the right.
func (p *packed) threshold(column int32, at uint16) float32 {
	v := p.values[column]
	low, high := v[at], v[at+1]
	if t := low + float32((high-low)/2); t < high {
		return t
	}
	return low
}

// sums are the fields of a sum of rows, as numbers without the bias.
type sums struct {
	of   [4 * maxWords]float64
	kept int // rows
}

// read sets s to the sums of w.
func (p *packed) read(s *sums, w *words) {
	mask := p.mask
	if p.counts < 0 {
		s.kept = 0
		for k, at := range p.places {
			v := int(w[at.word&3] >> (at.shift & 63) & mask)
			s.of[k&15] = float64(v)
			s.kept += v
		}
		return
	}
	last := p.places[p.counts]
	s.kept = int(w[last.word&3] >> (last.shift & 63) & mask)
	none := p.bias * int64(s.kept)
	for k, at := range p.places[:p.counts] {
		s.of[k&15] = float64(int64(w[at.word&3]>>(at.shift&63)&mask) - none)
	}
}
