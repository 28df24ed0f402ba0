package encode

// randomOrders is the number of orders of the values of a category that trees can split. Chosen by
// trial, see docs/constants.md.
const randomOrders = 3

// ordered has what statistics has, and then a number for each of randomOrders, which is drawn for each
// value and never changes. A threshold in it divides the values into two random subsets, which is how
// extremely randomised trees split a category (Geurts, Ernst and Wehenkel 2006), whatever their
// statistics are.
var ordered = encoder{
	name:  "ordered",
	moves: true,
	width: func(c *column, p *prior) int { return statistics.width(c, p) + randomOrders },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		n := statistics.width(c, p)
		statistics.apply(c, dst[:n], v, p)
		key := uint64(keyOf(v))
		for i := range randomOrders {
			dst[n+i] = drawn(key, uint64(i+1))
		}
	},
	valid:   credibilities,
	becomes: func(*column) string { return "target statistic and log frequency, for trees random orders as well" },
}

// drawn returns a number from 0 to 1 for a key, number n of a sequence: SplitMix64 (Steele, Lea and
// Flood 2014), of which the key is the seed.
func drawn(key, n uint64) float64 {
	z := key*0xD1342543DE82EF95 + n*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}

// Order gives the categories with statistics random orders, for a model with trees.
func (e *Encoding) Order() {
	if e == nil {
		return
	}
	for j := range e.columns {
		if c := &e.columns[j]; c.kind == asStatistics {
			c.kind = asOrdered
		}
	}
	e.setWidth()
}

// ForTrees yields the columns of an encoded row that are random orders.
func (e *Encoding) ForTrees(yield func(j int) bool) {
	if e == nil {
		return
	}
	at := 0
	for j := range e.columns {
		at += e.WidthOf(j)
		if e.columns[j].kind != asOrdered {
			continue
		}
		for i := at - randomOrders; i < at; i++ {
			if !yield(i) {
				return
			}
		}
	}
}
