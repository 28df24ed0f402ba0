package encode

import (
	"math"
	"slices"
)

const (
	// randomOrders is the number of orders of the values of a category that trees can split. Chosen by
	// trial, see docs/constants.md.
	randomOrders = 3

	// mostOrders is the number of orders of all categories together, of which each category gets an
	// equal part: every order is a column, for which trees take time to grow. Not chosen by trial
	// yet: a first guess, see docs/constants.md.
	mostOrders = 12
)

// ordered is statistics, followed by one column for each of some random orders. An order has a
// random number for each value, which never changes. The first parameter is the number of orders. A
// threshold in an order divides the values into two random subsets, which is how extremely
// randomised trees split a category (Geurts, Ernst and Wehenkel 2006), whatever the statistics of
// the values are.
var ordered = encoder{
	name:  "ordered",
	moves: true,
	width: func(c *column, p *prior) int { return statistics.width(c, p) + c.orders() },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		n := statistics.width(c, p)
		statistics.apply(c, dst[:n], v, p)
		key := uint64(c.key(v))
		for i := range c.orders() {
			dst[n+i] = drawn(key, uint64(i+1))
		}
	},
	valid: func(parameters []float64) bool {
		return len(parameters) > 0 && validOrders(parameters[0], 1) && credibilities(parameters[1:])
	},
	becomes: func(*column) string { return "target statistic and log frequency, for trees random orders as well" },
}

// validOrders reports whether a category may have that many random orders.
func validOrders(orders, least float64) bool {
	return orders >= least && orders <= randomOrders && orders == math.Trunc(orders)
}

// orders returns the number of random orders of c.
func (c *column) orders() int {
	switch c.kind {
	case asOrdered:
		return int(c.parameters[0])
	case asCoded:
		return int(c.parameters[1])
	}
	return 0
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

// Order gives the categories with statistics random orders, for a model with trees, unless there
// are more than mostOrders such categories.
func (e *Encoding) Order() {
	if e == nil {
		return
	}
	categories := 0
	for j := range e.columns {
		if k := e.columns[j].kind; k == asStatistics || k == asCoded {
			categories++
		}
	}
	if categories == 0 || categories > mostOrders {
		return
	}
	for j := range e.columns {
		n := float64(min(randomOrders, mostOrders/categories))
		switch c := &e.columns[j]; c.kind {
		case asStatistics:
			c.kind = asOrdered
			c.parameters = slices.Insert(c.parameters, 0, n)
		case asCoded:
			c.parameters[1] = n
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
		for i := at - e.columns[j].orders(); i < at; i++ {
			if !yield(i) {
				return
			}
		}
	}
}
