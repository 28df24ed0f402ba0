package inputs

import (
	"math"
	"math/bits"
)

// values is a set of numbers other than NaN. A table of many columns has millions of them to look
// up, which takes a map several times as long (BenchmarkTally).
type values struct {
	small [4]uint64 // bit i says whether the whole number i is in the set; pixels are such numbers
	slots []uint64  // bits of the other numbers, at their hash or the next free slot; a power of two
	n     int       // number of slots in use
}

// add adds v.
func (s *values) add(v float64) {
	if v >= 0 && v < 256 && v == math.Trunc(v) {
		i := uint8(v)
		s.small[i/64] |= 1 << (i % 64)
		return
	}
	if 2*s.n >= len(s.slots) {
		s.grow()
	}
	s.put(math.Float64bits(v))
}

// put adds the bits of a number. There must be a free slot.
func (s *values) put(b uint64) {
	mask := uint64(len(s.slots) - 1)
	for at := b * 0x9e3779b97f4a7c15 >> 32 & mask; ; at = (at + 1) & mask {
		switch s.slots[at] {
		case b:
			return
		case 0:
			s.slots[at] = b
			s.n++
			return
		}
	}
}

// grow doubles the slots.
func (s *values) grow() {
	old := s.slots
	s.slots, s.n = make([]uint64, max(16, 2*len(old))), 0
	for _, b := range old {
		if b != 0 {
			s.put(b)
		}
	}
}

// len returns the number of different numbers.
func (s *values) len() int {
	n := s.n
	for _, b := range s.small {
		n += bits.OnesCount64(b)
	}
	return n
}
