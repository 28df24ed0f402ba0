package inputs

import "math"

// values is a set of numbers other than NaN. A table of many columns has millions of them to look
// up, which takes a map several times as long (BenchmarkTally).
type values struct {
	slots []uint64 // bits of the numbers other than 0, at their hash or the next free slot; a power of two
	n     int      // number of slots in use
	zero  bool
}

// add adds v.
func (s *values) add(v float64) {
	if v == 0 {
		s.zero = true
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
	if s.zero {
		return s.n + 1
	}
	return s.n
}
