package forest

import "math/bits"

// bins are the sums of the rows of a node, indexed by the number of thresholds that a row is not
// above. This number is at most packedDraws.
type bins [8]words

const (
	// A word has four lanes of 16 bits. eachLane times a rank has the rank in each lane, and
	// laneTops are the highest bits of the lanes.
	eachLane, laneTops = 0x0001_0001_0001_0001, 0x8000_8000_8000_8000
)

// fill sets b from the ranks of some rows in a column and the words of these rows, of which each
// row has used.
func (b *bins) fill(ranks []uint16, rows []uint64, used int, thresholds *[packedDraws]uint16) {
	lanes := uint64(laneTops)
	for i, t := range thresholds {
		lanes += uint64(t) << (16 * i)
	}
	clear(b[:packedDraws+1])
	switch used {
	case 1:
		rows = rows[:len(ranks)]
		for i, rank := range ranks {
			b[lanesNotBelow(lanes, rank)][0] += rows[i]
		}
	case 2:
		for _, rank := range ranks {
			to := &b[lanesNotBelow(lanes, rank)]
			to[0] += rows[0]
			to[1] += rows[1]
			rows = rows[2:]
		}
	default:
		for _, rank := range ranks {
			to := &b[lanesNotBelow(lanes, rank)]
			row := (*words)(rows)
			to[0] += row[0]
			to[1] += row[1]
			to[2] += row[2]
			to[3] += row[3]
			rows = rows[maxWords:]
		}
	}
}

// lanesNotBelow returns the number of the lanes that are not below a rank.
func lanesNotBelow(lanes uint64, rank uint16) int {
	return bits.OnesCount64((lanes-uint64(rank)*eachLane)&laneTops) & 7
}

// zeros returns the sum of the rows of rank 0, and their number, where all ranks are 0 or 1.
func zeros(ranks, numbers []uint16, rows []uint64, used int) (sum words, n int) {
	switch used {
	case 1:
		rows = rows[:len(numbers)]
		for i, r := range numbers {
			rank := ranks[r]
			n += int(rank)
			sum[0] += rows[i] & (uint64(rank) - 1)
		}
	case 2:
		for _, r := range numbers {
			rank := ranks[r]
			n += int(rank)
			zero := uint64(rank) - 1
			sum[0] += rows[0] & zero
			sum[1] += rows[1] & zero
			rows = rows[2:]
		}
	default:
		for _, r := range numbers {
			rank := ranks[r]
			n += int(rank)
			zero, row := uint64(rank)-1, (*words)(rows)
			sum[0] += row[0] & zero
			sum[1] += row[1] & zero
			sum[2] += row[2] & zero
			sum[3] += row[3] & zero
			rows = rows[maxWords:]
		}
	}
	return sum, len(numbers) - n
}
