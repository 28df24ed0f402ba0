package forest

import (
	"math"
	"slices"
)

// Shared is what trees that grow from samples with the same X and Weights have in common, whatever
// their targets are. Its zero value is empty; the first sample whose trees grow from ranks fills
// it.
type Shared struct {
	ranks  [][]uint16  // of the rows that have a weight, in each column
	values [][]float32 // of each rank
	rarer  rarer
}

// rank sets p to the ranks of the rows of s among the values of each column.
func (p *Shared) rank(s *Sample, rows []int32) {
	var r ranker
	columns := make([]float32, columnsTogether*len(rows))
	for from := 0; from < s.Dim; from += columnsTogether {
		n := min(columnsTogether, s.Dim-from)
		for i, row := range rows {
			for j, v := range s.X[int(row)*s.Dim+from:][:n] {
				columns[j*len(rows)+i] = v
			}
		}
		for j := range n {
			ranks, values := r.rank(columns[j*len(rows) : (j+1)*len(rows)])
			p.ranks, p.values = append(p.ranks, ranks), append(p.values, values)
		}
	}
	p.rarer = p.rarerValues(len(rows))
}

// columnsTogether is the number of columns that are read together: those of a cache line.
const columnsTogether = 16

// ranker is the memory of a radix sort.
type ranker struct {
	keys, moved []uint64 // high half: a value, as an integer of the same order; low half: its row
	values      []float32
	begin       [digits][1 << digitBits]int32
}

const digits, digitBits = 3, 11

// rank returns the ranks of the values of a column, and the values in their order, each once.
func (r *ranker) rank(column []float32) (ranks []uint16, values []float32) {
	r.keys, r.moved = r.keys[:0], append(r.moved[:0], make([]uint64, len(column))...)
	r.begin = [digits][1 << digitBits]int32{}
	for i, v := range column {
		b := math.Float32bits(v)
		b ^= uint32(int32(b)>>31) | 1<<31 // all bits of a negative number, and the sign of others
		r.keys = append(r.keys, uint64(b)<<32|uint64(i))
		for d := range digits {
			r.begin[d][digit(uint64(b)<<32, d)]++
		}
	}
	for d := range digits {
		r.sort(d)
	}
	ranks, r.values = make([]uint16, len(column)), r.values[:0]
	for _, key := range r.keys {
		v := column[uint32(key)] + 0 // and not -0
		if len(r.values) == 0 || v != r.values[len(r.values)-1] {
			r.values = append(r.values, v)
		}
		ranks[uint32(key)] = uint16(len(r.values) - 1)
	}
	return ranks, slices.Clone(r.values)
}

func digit(key uint64, d int) uint64 { return key >> (32 + digitBits*d) & (1<<digitBits - 1) }

// sort sorts the keys by a digit. It is stable.
func (r *ranker) sort(d int) {
	begin, sum := &r.begin[d], int32(0)
	for i, n := range begin {
		if int(n) == len(r.keys) {
			return // all have this digit
		}
		begin[i] = sum
		sum += n
	}
	for _, key := range r.keys {
		at := &begin[digit(key, d)]
		r.moved[*at] = key
		*at++
	}
	r.keys, r.moved = r.moved, r.keys
}
