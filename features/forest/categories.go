package forest

import "math"

// category is a run of columns of indicators, of which a row of the sample has at most one:
// the values of a category, such as a one-hot encoding makes of it.
type category struct {
	columns    []int32   // of the values
	thresholds []float32 // of the columns: the indicator is set above
	of         []int32   // value of each row of the sample; len(columns) for none of them
	occurring  int       // number of values that the rows have
}

// values returns the number of values, with that of rows that have no indicator.
func (c *category) values() int { return len(c.columns) + 1 }

// leastIndicators is the number of columns of a category, or more: yes and no are no run.
const leastIndicators = 3

// categories returns those of the rows of s.
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

// extends reports whether column j continues the run c, and has it do so. A column without a
// second value says nothing of the rows.
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
	// chain asks for one value after the other, from the node at on. Leaves count from left to
	// right.
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
