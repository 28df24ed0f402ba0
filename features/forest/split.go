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
	least := w.purity(w.all, total)
	most := least + float64(least*minGain)
	d := len(w.order)
	for range maxRounds {
		wanted := min((d+1)/2, maxSplits)
		for i := 0; i < min(d, maxColumns) && wanted > 0; i++ {
			j := i + w.below(d-i)
			w.order[i], w.order[j] = w.order[j], w.order[i]
			c, varies := w.draw(rows, w.order[i])
			if !varies {
				continue
			}
			purity, valid := w.divided(rows, c, total)
			if !valid {
				continue
			}
			wanted--
			if purity > most {
				most, ok, best = purity, true, c
			}
		}
		if wanted < min((d+1)/2, maxSplits) {
			break
		}
	}
	return best, ok
}

// draw returns a split of rows in a column, at a uniform threshold between their values.
// It returns false if these are all equal.
func (w *worker) draw(rows []int32, number int32) (c candidate, varies bool) {
	column, u := w.columns[number], w.uniform()
	low, high := column[rows[0]], column[rows[0]]
	for _, r := range rows[1:] {
		low, high = min(low, column[r]), max(high, column[r])
	}
	threshold := float32(float64(low) + float64(u*(float64(high)-float64(low))))
	if threshold >= high {
		threshold = low
	}
	return candidate{number, threshold}, low < high
}

// divided returns the sum of the purities of both sides of a split, whose weight is total.
// It returns false if a side has too few rows.
func (w *worker) divided(rows []int32, c candidate, total float64) (purity float64, valid bool) {
	n, weight := w.sumsLeft(rows, w.columns[c.column], c.threshold)
	if n < minLeafRows || len(rows)-n < minLeafRows {
		return 0, false
	}
	purity = w.purity(w.left, weight)
	for k, v := range w.left {
		w.left[k] = w.all[k] - v
	}
	return purity + w.purity(w.left, total-weight), true
}

// minGain is the part of the purity that a split has to gain: less is rounding.
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
	for k, y := range w.targets {
		for _, r := range rows {
			w.all[k] += y[r]
		}
	}
	return weight
}

// sumsLeft sets left to the sums of the rows that are not above the threshold, and
// returns their number and their weight.
func (w *worker) sumsLeft(rows []int32, column []float32, threshold float32) (n int, weight float64) {
	clear(w.left)
	w.moved = w.moved[:0]
	for _, r := range rows {
		if column[r] <= threshold {
			w.moved = append(w.moved, r)
			weight += w.weights[r]
		}
	}
	if w.classes != nil {
		for _, r := range w.moved {
			w.left[w.classes[r]] += w.weights[r]
		}
		return len(w.moved), weight
	}
	for k, y := range w.targets {
		sum := 0.0
		for _, r := range w.moved {
			sum += y[r]
		}
		w.left[k] = sum
	}
	return len(w.moved), weight
}

// partition moves the rows of a node that go right after the others, and returns where
// they begin.
func (w *worker) partition(o open, c candidate) int32 {
	column, at := w.columns[c.column], o.from
	w.moved = w.moved[:0]
	for _, r := range w.rows[o.from:o.to] {
		if column[r] > c.threshold {
			w.moved = append(w.moved, r)
		} else {
			w.rows[at] = r
			at++
		}
	}
	copy(w.rows[at:o.to], w.moved)
	return at
}
