package onnx

import "github.com/accrete-ml/accrete/features/forest"

// trees are the nodes of a forest, and the coefficients of its leaves.
type trees struct {
	forest.Table
	coefficients []float32 // leaves × scores
}

// newTrees returns the trees of a model, nil if there are none.
func (m *model) newTrees() (*trees, error) {
	columns := numbers[byte](m, "forest.columns")
	if columns == nil {
		return nil, nil
	}
	f, err := forest.Decode(columns, numbers[float32](m, "forest.thresholds"), m.width)
	if err != nil {
		return nil, err
	}
	return &trees{f.Table(), numbers[float32](m, "forest.coefficients")}, nil
}

// leaves returns the sum of the coefficients of the leaves into which scaled rows x fall: rows ×
// scores. All trees are traversed together, one level at a time, as many levels as the deepest
// tree has.
func (t *trees) leaves(g *graph, x value, scores int) value {
	thresholds := make([]float64, len(t.Thresholds))
	for i, v := range t.Thresholds {
		thresholds[i] = float64(v)
	}
	coefficients := make([]float64, len(t.coefficients))
	for i, v := range t.coefficients {
		coefficients[i] = float64(v)
	}
	columns, left, bounds := g.integers(t.Columns...), g.integers(t.Left...), g.doubles(thresholds, len(thresholds))
	roots := g.integers(t.Roots...)
	next := func(at, v value) value { // the children of the nodes at, chosen by the values v of the nodes' columns
		right := g.cast(g.op("Greater", v, g.op("Gather", bounds, at)), tensorInt64)
		return g.op("Add", g.op("Gather", left, at), right)
	}
	at := next(roots, g.with(axis(1), "Gather", x, g.op("Gather", columns, roots)))
	for range t.Depth - 1 {
		at = next(at, g.with(axis(1), "GatherElements", x, g.op("Gather", columns, at)))
	}
	leaf := g.op("Gather", g.integers(t.Leaves...), at)
	all := g.op("Gather", g.doubles(coefficients, len(coefficients)/scores, scores), leaf)
	return g.with([]attribute{{"keepdims", 0}}, "ReduceSum", all, g.integers(1))
}
