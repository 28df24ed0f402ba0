package record

import (
	"cmp"
	"slices"
	"strconv"
)

// likeliest selects the largest probabilities that fit into room, and returns
// their size in bytes. Of equal probabilities, the first is preferred.
func (e *Encoder) likeliest(row []float64, room int) (keep []bool, size int) {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
	keep = make([]bool, len(row))
	for _, i := range order {
		n := len(e.classes[i]) + numberBytes
		if size+n > room {
			break
		}
		keep[i], size = true, size+n
	}
	return keep, size
}

// probabilities appends the probabilities to keep, in the order of the classes.
func (e *Encoder) probabilities(b []byte, row []float64, keep []bool) []byte {
	b = append(b, probabilitiesMember...)
	n := 0
	for i, p := range row {
		if keep != nil && !keep[i] {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(append(b, e.classes[i]...), ':')
		b = strconv.AppendFloat(b, p, 'g', -1, 64)
	}
	b = append(b, '}')
	if n < len(row) {
		b = strconv.AppendInt(append(b, truncatedMember...), int64(len(row)-n), 10)
	}
	return b
}
