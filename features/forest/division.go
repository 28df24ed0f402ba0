package forest

// division is a split of a node: rows whose rank in the column is above at go right.
type division struct {
	column int32
	at     uint16
	left   words
	rows   int // on the left
	purity float64
}

// split returns the best of the random divisions of a node. If there is none, the result has no
// rows.
func (w *packedWorker) split(o *openSums) (best division) {
	n := int(o.to - o.from)
	if n < 2*minLeafRows {
		return best
	}
	w.read(&w.all, &o.sum)
	squares := 0.0
	for _, s := range w.all.of[:w.kinds] {
		squares += float64(s * s)
	}
	if w.counts < 0 {
		for k, s := range w.all.of[:w.kinds] {
			w.classes[k] = int(s)
		}
		w.squares = int(squares)
	}
	best.purity = squares / float64(n)
	best.purity += float64(best.purity * minGain)
	if w.counts < 0 && squares == float64(n*n) { // one class
		return best
	}
	w.summed = false
	for range maxRounds {
		if w.compareSome(o, &best) {
			break
		}
	}
	return best
}

// compareSome replaces best by the best division of a node by some columns, in a random order, if
// that is better. It reports whether any division left enough rows on both sides.
func (w *packedWorker) compareSome(o *openSums, best *division) (valid bool) {
	wanted, draws := w.drawer.node()
	for i := 0; i < draws && wanted > 0; i++ {
		column, first := w.draw(i)
		if first && !w.constant.has(column) && w.compare(o, column, best) {
			valid = true
			wanted--
		}
	}
	return valid
}

// compare replaces best by better divisions of a node by one column. It reports whether any
// division left enough rows on both sides.
func (w *packedWorker) compare(o *openSums, column int32, best *division) (valid bool) {
	numbers, ranks := w.numbers[o.from:o.to], w.ranks[column]
	own := w.own[int(o.from)*w.used : int(o.to)*w.used]
	switch len(w.values[column]) {
	case 1:
		w.constant.add(column)
		return false
	case 2:
		left, n := w.low(o, column)
		if n == 0 || n == len(numbers) {
			w.constant.add(column)
			return false
		}
		return w.judge(&left, len(numbers), column, 0, best)
	}
	at := w.at[:len(numbers)]
	low, high := ranks[numbers[0]], ranks[numbers[0]]
	for i, r := range numbers {
		rank := ranks[r]
		at[i] = rank
		low, high = min(low, rank), max(high, rank)
	}
	if low == high {
		w.constant.add(column)
		return false
	}
	thresholds := w.thresholds(low, high)
	w.bins.fill(at, own, w.used, &thresholds)
	var left words
	for t, at := range thresholds {
		left.add(&w.bins[packedDraws-t])
		if t > 0 && at == thresholds[t-1] {
			continue
		}
		if w.judge(&left, len(numbers), column, at, best) {
			valid = true
		}
	}
	return valid
}

// summedTogether is the number of rows of a node from which on the sums of all columns of two
// values are computed together.
const summedTogether = 64

// low returns the sum of the rows of a node that have the lower of two values, and their number.
func (w *packedWorker) low(o *openSums, column int32) (sum words, n int) {
	numbers, own := w.numbers[o.from:o.to], w.own[int(o.from)*w.used:int(o.to)*w.used]
	if len(numbers) < summedTogether {
		return zeros(w.ranks[column], numbers, own, w.used)
	}
	if !w.summed {
		w.rarer.sum(w.rare, w.rareOf, numbers, own, w.used)
		w.summed = true
	}
	if w.rarer.rank[column] == 0 {
		return w.rare[column], int(w.rareOf[column])
	}
	sum = o.sum
	sum.sub(&w.rare[column])
	return sum, len(numbers) - int(w.rareOf[column])
}

// thresholds returns ranks in [low, high), in increasing order: all of them if there are at most
// packedDraws, with the last one repeated, and otherwise random ones.
func (w *packedWorker) thresholds(low, high uint16) (t [packedDraws]uint16) {
	span := high - low
	if span <= packedDraws {
		for i := range t {
			t[i] = low + min(uint16(i), span-1)
		}
		return t
	}
	u := w.rng.Uint64()
	for i := range t {
		t[i] = low + uint16(uint32(uint16(u>>(16*i)))*uint32(span)>>16)
	}
	t[0], t[1] = min(t[0], t[1]), max(t[0], t[1])
	t[2], t[3] = min(t[2], t[3]), max(t[2], t[3])
	t[0], t[2] = min(t[0], t[2]), max(t[0], t[2])
	t[1], t[3] = min(t[1], t[3]), max(t[1], t[3])
	t[1], t[2] = min(t[1], t[2]), max(t[1], t[2])
	return t
}

// judge replaces best by a division of n rows if that is better. It reports whether the division
// leaves enough rows on both sides.
func (w *packedWorker) judge(sum *words, n int, column int32, at uint16, best *division) bool {
	kept, left, right := w.sides(sum)
	if kept < minLeafRows || n-kept < minLeafRows {
		return false
	}
	if purity := left/float64(kept) + right/float64(n-kept); purity > best.purity {
		*best = division{column, at, *sum, kept, purity}
	}
	return true
}

// sides returns the number of rows on the left of a division, given their sum, and the sum of the
// squares of the fields on each side. For classes these are whole numbers, and the one on the right
// follows from that on the left: Σ (a-v)² = Σ a² - 2 Σ av + Σ v².
func (w *packedWorker) sides(sum *words) (kept int, left, right float64) {
	if w.counts < 0 {
		squares, products, mask := 0, 0, w.mask
		counts := w.classes[:len(w.places)]
		for k, at := range w.places {
			v := int(sum[at.word&3] >> (at.shift & 63) & mask)
			kept += v
			squares += v * v
			products += v * counts[k]
		}
		return kept, float64(squares), float64(w.squares - 2*products + squares)
	}
	w.read(&w.left, sum)
	all, of := w.all.of[:w.kinds], w.left.of[:w.kinds]
	for k, v := range of {
		left += float64(v * v)
		rest := all[k] - v
		right += float64(rest * rest)
	}
	return w.left.kept, left, right
}
