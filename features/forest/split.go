package forest

// candidate is a split: rows above the threshold go right.
type candidate struct {
	column    int32
	threshold float32
}

// split returns the best of the random splits of a node, if there is any.
func (w *worker) split(o open) (best candidate, ok bool) {
	rows := w.rows[o.from:o.to]
	if len(rows) < 2*minLeafRows {
		return best, false
	}
	total := w.sums(rows)
	w.tally.begin(w.growth, rows)
	least := w.purity(w.all, total)
	most := least + float64(least*minGain)
	for range maxRounds {
		all, draws := w.drawer.node()
		wanted := all
		for i := 0; i < draws && wanted > 0; i++ {
			number, first := w.draw(i)
			u := w.uniform()
			if !first || w.constant.has(number) {
				continue
			}
			low, high := w.read(rows, number)
			if low >= high {
				w.constant.add(number)
				continue
			}
			used := false
			for draw := range w.draws {
				c := candidate{number, between(low.value(), high.value(), u)}
				if draw > 0 && w.twoValued[number] {
					// the split of the first draw again
				} else if purity, left, valid := w.divided(rows, c.threshold, total); valid {
					used = true
					if purity > most {
						most, ok, best = purity, true, c
					}
				} else if w.twoValued[number] && (left == 0 || left == len(rows)) {
					w.constant.add(number)
					break
				}
				if w.draws > 1 {
					u = w.uniform()
				}
			}
			if used {
				wanted--
			}
		}
		if wanted < all {
			break
		}
	}
	return best, ok
}

// draw returns the column of draw i, and whether the node has drawn it for the first time.
func (w *worker) draw(i int) (column int32, first bool) {
	if w.prefer != nil {
		return w.drawer.preferred(w.uniform())
	}
	return w.drawer.alike(i, i+w.below(len(w.columns)-i)), true
}

// read reads the values of the rows in a column, for divided. It returns the smallest and the
// largest of them, or of all rows if the column has two values: a split then shows whether the rows
// have both.
func (w *worker) read(rows []int32, number int32) (low, high key) {
	x, dim := w.columns[number], 1
	if len(rows) <= nearRows {
		x, dim = w.x[number:], w.dim
	}
	low, high = gather(w.column[:len(rows)], x, dim, rows)
	if len(rows) == len(w.growth.rows) || w.twoValued[number] {
		return w.low[number], w.high[number]
	}
	return low, high
}

// gather reads the values of the rows in a column of x into dst. The values of a column are dim
// elements apart, and there is at least one row. gather returns the smallest and the largest value.
func gather(dst []int32, x []key, dim int, rows []int32) (low, high key) {
	dst = dst[:len(rows)]
	low = x[int(rows[0])*dim]
	high = low
	for i, r := range rows {
		v := x[int(r)*dim]
		dst[i] = int32(v)
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// nearRows is the number of rows of a node up to which values are read from the rows and not from
// the columns, because the node and those below it read the same rows again. Chosen by
// BenchmarkGrow.
const nearRows = 96

// between returns the threshold that has the share u of the range [low, high] below it.
func between(low, high float32, u float64) float32 {
	threshold := float32(float64(low) + float64(u*(float64(high)-float64(low))))
	if threshold >= high {
		return low
	}
	return threshold
}

// divided returns the sum of the purities of both sides of a split in the column that was read, and
// the number of rows on the left. total is the weight of all rows. valid is false if a side has fewer
// than minLeafRows.
func (w *worker) divided(rows []int32, threshold float32, total float64) (purity float64, left int, valid bool) {
	n, weight := w.sumsLeft(rows, keyOf(threshold))
	if n < minLeafRows || len(rows)-n < minLeafRows {
		return 0, n, false
	}
	purity = w.purity(w.left, weight)
	for k, v := range w.left {
		w.left[k] = w.all[k] - v
	}
	return purity + w.purity(w.left, total-weight), n, true
}

// minGain is the least gain of a split, as a part of the purity of its node: less is rounding.
const minGain = 1e-12

// purity returns Σ s²/weight of the sums of the rows on one side: the fall of variance
// or of Gini's impurity is the sum of both sides' minus that of the node.
func (w *worker) purity(sums []float64, weight float64) float64 {
	if !(weight > 0) {
		return 0
	}
	squares := 0.0
	for _, s := range sums {
		squares += float64(s * s)
	}
	return squares / weight
}

// sums sets all to the sums of the rows, and returns their weight.
func (w *worker) sums(rows []int32) (weight float64) {
	clear(w.all)
	for _, r := range rows {
		weight += w.weights[r]
	}
	if w.classes != nil {
		for _, r := range rows {
			w.all[w.classes[r]] += w.weights[r]
		}
		return weight
	}
	for _, r := range rows {
		for k, y := range w.targets[int(r)*w.kinds:][:w.kinds] {
			w.all[k] += y
		}
	}
	return weight
}

// sumsLeft sets left to the sums of the rows that are not above the threshold in the column that
// was read, and returns their number and their weight.
func (w *worker) sumsLeft(rows []int32, threshold key) (n int, weight float64) {
	if w.tally.kinds > 0 {
		n = w.tally.below(w.column, threshold, w.left)
		return n, float64(n)
	}
	clear(w.left)
	moved, column := w.moved[:len(rows)], w.column[:len(rows)]
	for i, r := range rows {
		moved[n] = r
		n += notAbove(key(column[i]), threshold)
	}
	moved = moved[:n]
	if weight = float64(n); !w.alike {
		weight = 0
		for _, r := range moved {
			weight += w.weights[r]
		}
	}
	if w.classes != nil {
		left, classes, weights := w.left, w.classes, w.weights
		for _, r := range moved {
			left[classes[r]] += weights[r]
		}
		return n, weight
	}
	if kinds, left := w.kinds, w.left; kinds > 1 {
		for _, r := range moved {
			for k, y := range w.targets[int(r)*kinds:][:kinds] {
				left[k] += y
			}
		}
		return n, weight
	}
	sum, y := 0.0, w.targets
	for _, r := range moved {
		sum += y[r]
	}
	w.left[0] = sum
	return n, weight
}

// notAbove returns 1 if v is not above the threshold, and 0 otherwise: without a branch, which
// would be a random one.
func notAbove(v, threshold key) int {
	left := 1
	if v > threshold {
		left = 0
	}
	return left
}

// partition moves the rows of a node that go right after the others, and returns where
// they begin.
func (w *worker) partition(o open, c candidate) int32 {
	column, threshold, at := w.columns[c.column], keyOf(c.threshold), o.from
	moved := w.moved[:0]
	for _, r := range w.rows[o.from:o.to] {
		if column[r] > threshold {
			moved = append(moved, r)
		} else {
			w.rows[at] = r
			at++
		}
	}
	copy(w.rows[at:o.to], moved)
	return at
}

// set is a set of columns, one bit each.
type set []uint64

func (s set) has(column int32) bool { return s[column/64]>>(column%64)&1 != 0 }
func (s set) add(column int32)      { s[column/64] |= 1 << (column % 64) }
