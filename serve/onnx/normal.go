package onnx

import "math"

// normalColumns holds the columns that are encoded as normal scores.
type normalColumns struct {
	raw        []int64     // their indices in the input
	at         []int       // their indices in encoded rows
	parameters [][]float64 // for each: increasing quantiles, and then their scores
}

func (c *normalColumns) add(raw, at int, parameters []float64) {
	c.raw, c.at, c.parameters = append(c.raw, int64(raw)), append(c.at, at), append(c.parameters, parameters)
}

// normal returns encoded rows with the normal scores of the columns of c, and 0 in all other
// columns. A missing value has the score 0, unless missing values are read as the number 0.
func (m *model) normal(g *graph, x, missing value, c *normalColumns) value {
	raw, places := g.integers(c.raw...), make([]float64, len(c.at)*m.width)
	for j, at := range c.at {
		places[j*m.width+at] = 1
	}
	scores := g.normalScores(g.with(axis(1), "Gather", x, raw), c.parameters)
	if !m.zeros {
		scores = g.op("Where", g.with(axis(1), "Gather", missing, raw), g.double(0), scores)
	}
	return g.op("MatMul", scores, g.doubles(places, len(c.at), m.width))
}

// normalScores returns the normal scores of x, rows × columns, in which no value is missing.
// Scores are linear between two quantiles. Before the first and after the last quantile they
// change with the logarithm of the distance. The order of the operations gives the same
// rounding as package encode.
func (g *graph) normalScores(x value, parameters [][]float64) value {
	columns, segments := len(parameters), 0
	for _, p := range parameters {
		segments = max(segments, len(p)/2-1)
	}
	var from, low, high, width, score, top, change []float64 // columns × segments
	first := make([]int64, columns)
	for j, p := range parameters {
		first[j] = int64(j * segments)
		n := len(p) / 2
		quantiles, scores := p[:n], p[n:]
		for i := range segments {
			after := maxMagnitude // for the first segment, and for those that the column does not have: no value is greater
			if i > 0 && i < n-1 {
				after = quantiles[i]
			}
			i = min(i, n-2)
			from, low, high, width = append(from, after), append(low, quantiles[i]), append(high, quantiles[i+1]), append(width, quantiles[i+1]-quantiles[i])
			score, top, change = append(score, scores[i]), append(top, scores[i+1]), append(change, scores[i+1]-scores[i])
		}
	}
	passed := g.op("Greater", g.op("Unsqueeze", x, g.integers(2)), g.doubles(from, 1, columns, segments))
	segment := g.op("Add", g.with([]attribute{{"keepdims", 0}}, "ReduceSum", g.cast(passed, tensorInt64), g.integers(2)), g.integers(first...))
	of := func(table []float64) value { return g.op("Gather", g.doubles(table, len(table)), segment) }

	zero, one, end, scale, slope := g.double(0), g.double(1), of(high), of(width), of(change)
	tail := func(share value) value { // 0 where the share is not positive
		return g.op("Mul", g.op("Log", g.op("Add", g.op("Clip", share, zero, g.double(math.MaxFloat64)), one)), slope)
	}
	share := g.op("Div", g.op("Sub", x, of(low)), scale)
	between := g.op("Add", g.op("Mul", g.op("Clip", share, zero, one), slope), of(score))
	above := g.op("Add", tail(g.op("Div", g.op("Sub", x, end), scale)), of(top))
	return g.op("Where", g.op("Greater", x, end), above, g.op("Sub", between, tail(g.op("Neg", share))))
}
