package forest

import "math"

// category is a run of neighbouring indicator columns of which at most one is set in each row of
// the sample: the values of a category, as in a one-hot encoding.
type category struct {
	columns    []int32   // of the values
	thresholds []float32 // of the columns; an indicator is set if it is above its threshold
	of         []int32   // value of each row of the sample; len(columns) for none of them
	occurring  int       // number of values that the rows have
}

// values returns the number of values, including one for the rows that have no indicator set.
func (c *category) values() int { return len(c.columns) + 1 }

// leastIndicators is the least number of columns of a category. Two columns, such as one for yes
// and one for no, do not count as one.
const leastIndicators = 3

// categories returns the categories among the columns of s, as they appear in some rows.
func (s *Sample) categories(rows []int) []category {
	var all []category
	for j := 0; j < s.Dim; {
		c := category{of: make([]int32, len(s.Weights))}
		for i := range c.of {
			c.of[i] = -1
		}
		from := j
		for j < s.Dim && s.extends(&c, j, rows) {
			j++
		}
		if len(c.columns) >= leastIndicators {
			c.occurring = len(c.columns)
			for _, i := range rows {
				if c.of[i] < 0 {
					c.of[i], c.occurring = int32(len(c.columns)), len(c.columns)+1
				}
			}
			all = append(all, c)
		}
		j = max(j, from+1)
	}
	return all
}

// extends reports whether the run c continues with column j, which it then appends. A column with
// a single value tells nothing about the rows: the run continues without it.
func (s *Sample) extends(c *category, j int, rows []int) bool {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, i := range rows {
		v := s.X[i*s.Dim+j]
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		return true
	}
	for _, i := range rows {
		v := s.X[i*s.Dim+j]
		if v != low && v != high || v == high && c.of[i] >= 0 {
			return false
		}
	}
	for _, i := range rows {
		if s.X[i*s.Dim+j] == high {
			c.of[i] = int32(len(c.columns))
		}
	}
	c.columns = append(c.columns, int32(j))
	c.thresholds = append(c.thresholds, low+float32((high-low)/2))
	return true
}

// cells returns the tree whose leaves are the pairs of a value of a and one of b.
func cells(a, b *category) []node {
	nodes, leaves := make([]node, 1), int32(0)
	// chain adds splits that test one value of c after the other, beginning at the node at.
	// Leaves count from left to right.
	var chain func(at int32, c *category, value int, then func(at int32))
	chain = func(at int32, c *category, value int, then func(at int32)) {
		if value == len(c.columns) {
			then(at)
			return
		}
		child := int32(len(nodes))
		nodes = append(nodes, node{}, node{})
		nodes[at] = node{threshold: c.thresholds[value], column: c.columns[value], left: child}
		chain(child, c, value+1, then)
		then(child + 1)
	}
	chain(0, a, 0, func(at int32) {
		chain(at, b, 0, func(at int32) {
			nodes[at] = leafNode(at, leaves)
			leaves++
		})
	})
	return nodes
}
