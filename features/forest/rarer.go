package forest

// rarer has, for each row, the columns of two values in which the row has the rarer value. If there
// are many such columns, as with indicators, most rows have the rarer value in few of them.
type rarer struct {
	columns []int32  // those of row i are columns[first[i]:first[i+1]]
	first   []int32  // of each row, and their number
	rank    []uint16 // the rarer one, of each column
}

func (p *Shared) rarerValues(rows int) rarer {
	r := rarer{rank: make([]uint16, len(p.ranks)), first: make([]int32, 1, rows+1)}
	for j, ranks := range p.ranks {
		ones := 0
		for _, rank := range ranks {
			ones += int(rank)
		}
		if len(p.values[j]) == 2 && 2*ones <= rows {
			r.rank[j] = 1
		}
	}
	for i := range rows {
		for j, ranks := range p.ranks {
			if len(p.values[j]) == 2 && ranks[i] == r.rank[j] {
				r.columns = append(r.columns, int32(j))
			}
		}
		r.first = append(r.first, int32(len(r.columns)))
	}
	return r
}

// sum sets dst[c] to the sum of the rows that have the rarer value in column c, and n[c] to their
// number. Each row has used words.
func (r *rarer) sum(dst []words, n []int32, numbers []uint16, rows []uint64, used int) {
	clear(dst)
	clear(n)
	for i, number := range numbers {
		row := rows[i*used : (i+1)*used]
		columns := r.columns[r.first[number]:r.first[number+1]]
		switch used {
		case 1:
			v := row[0]
			for _, c := range columns {
				n[c]++
				dst[c][0] += v
			}
		case 2:
			u, v := row[0], row[1]
			for _, c := range columns {
				to := &dst[c]
				n[c]++
				to[0] += u
				to[1] += v
			}
		default:
			row := (*words)(row)
			for _, c := range columns {
				to := &dst[c]
				n[c]++
				to[0] += row[0]
				to[1] += row[1]
				to[2] += row[2]
				to[3] += row[3]
			}
		}
	}
}
