package onnx

import (
	"math"

	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// outputs declares the outputs of the graph for scaled rows x with scores f.
func (m *model) outputs(g *graph, x, f value) error {
	switch learner.Task(m.sizes[task]) {
	case learner.Classification:
		return m.classes(g, f)
	case learner.Novelty:
		m.novelty(g, f)
		return nil
	}
	return m.targets(g, x, f)
}

func (m *model) classes(g *graph, f value) error {
	p, err := m.probabilities(g, f)
	if err != nil {
		return err
	}
	g.output("prediction", g.op("Gather", g.texts(m.schema.Classes), m.class(g, p)), tensorString)
	g.output("probabilities", p, tensorFloat64, len(m.schema.Classes))
	return nil
}

// probabilities returns the probabilities of the classes, rows × classes.
func (m *model) probabilities(g *graph, f value) (value, error) {
	switch {
	case len(m.schema.Classes) < 2:
		return "", unsupported("it has seen one class")
	case m.loss == "softmax":
		return g.with(axis(1), "Softmax", f), nil
	case m.loss == "logistic":
		return g.with(axis(1), "Concat", g.op("Sigmoid", g.op("Neg", f)), g.op("Sigmoid", f)), nil
	case len(m.schema.Classes) > 2:
		return "", unsupported("it has more than two classes, and the loss %s: set learner.loss (fit --loss) to auto, with another algorithm than ridge", m.loss)
	}
	u, one := g.op("Clip", f, g.double(-1), g.double(1)), g.double(1)
	second := value("")
	if m.loss == "smoothed-hinge" {
		likely := g.op("Div", one, g.op("Sub", g.double(2), g.op("Abs", u)))
		second = g.op("Where", g.op("Less", u, g.double(0)), g.op("Sub", one, likely), likely)
	} else { // the other margins
		second = g.op("Div", g.op("Add", one, u), g.double(2))
	}
	return g.with(axis(1), "Concat", g.op("Sub", one, second), second), nil
}

// class returns the index of the predicted class for each row. It is the most probable class
// or, if a decision rule for two classes is set, the second class if its odds reach the bucket of
// the rule.
func (m *model) class(g *graph, p value) value {
	rule := numbers[int64](m, "decision")
	if len(rule) == 0 || rule[0] == 0 || len(m.schema.Classes) != 2 {
		return g.with(reduced(1), "ArgMax", p)
	}
	of := func(class int64) value { return g.with(axis(1), "Gather", p, g.scalar(class)) }
	return g.cast(g.op("GreaterOrEqual", g.op("Div", of(1), of(0)), g.double(ranking.Edge(int(rule[0])))), tensorInt64)
}

func (m *model) novelty(g *graph, f value) {
	b := numbers[float64](m, "intercept")[0]
	score := g.op("Sub", g.double(1+b), g.op("Squeeze", f, g.integers(1)))
	threshold := g.op("Add", g.op("Mul", score, g.double(0)), g.double(1+b))
	g.output("prediction", g.op("Greater", score, threshold), tensorBool)
	g.output("score", score, tensorFloat64)
	g.output("threshold", threshold, tensorFloat64)
}

// poissonTop bounds the exponents of predicted counts.
const poissonTop = 20

// targets declares the outputs of a regression: the predicted numbers, quantiles, intervals and
// variances.
func (m *model) targets(g *graph, x, f value) error {
	label := numbers[float64](m, "label") // targets × (mean, deviation)
	n := len(label) / 2
	mean, deviation := make([]float64, n), make([]float64, n)
	for j := range n {
		mean[j], deviation[j] = label[2*j], label[2*j+1]
	}
	l, err := loss.Parse(m.loss)
	if err != nil {
		return err
	}
	if m.loss == "poisson" {
		f = g.op("Exp", g.op("Clip", f, g.double(-poissonTop), g.double(poissonTop)))
	}
	units := func(v value, shape ...int) value {
		v = g.op("Add", g.op("Mul", v, g.doubles(deviation, shape...)), g.doubles(mean, shape...))
		return g.op("Clip", v, g.double(-maxMagnitude), g.double(maxMagnitude))
	}
	points := value("")
	if q, ok := l.(loss.Quantiles); ok {
		taus := q.Taus()
		all := g.name("v")
		f = g.op("Reshape", f, g.integers(-1, int64(n), int64(len(taus))))
		g.node([]attribute{{"axis", 2}, {"largest", 0}}, "TopK", []value{all, g.name("v")}, f, g.integers(int64(len(taus))))
		all = units(all, 1, n, 1)
		points = g.with(axis(2), "Gather", all, g.scalar(central(taus)))
		m.output(g, "quantiles", all, n, len(taus))
	} else {
		points = units(f, 1, n)
	}
	m.output(g, "prediction", points, n)
	m.uncertainty(g, x, points, n)
	return nil
}

// uncertainty declares the intervals and variances of predictions for scaled rows x.
func (m *model) uncertainty(g *graph, x, points value, n int) {
	more := m.leverage(g, x)
	if both := numbers[float64](m, "intervals"); len(both) > 0 {
		end := func(op string, width []float64) value {
			by := g.row(width)
			if more != "" {
				by = g.op("Mul", g.op("Sqrt", more), by)
			}
			return g.op("Unsqueeze", g.op(op, points, by), g.integers(2))
		}
		m.output(g, "interval", g.with(axis(2), "Concat", end("Sub", both[:n]), end("Add", both[n:])), n, 2)
	}
	if noise := numbers[float64](m, "variance"); len(noise) > 0 {
		v := g.row(noise)
		if more != "" {
			v = g.op("Mul", more, v)
		}
		m.output(g, "variance", g.op("Add", v, g.op("Mul", points, g.double(0))), n)
	}
}

// output declares an output with an axis for the targets, or without that axis if there is only
// one target.
func (m *model) output(g *graph, name string, v value, targets int, shape ...int) {
	if targets == 1 {
		g.output(name, g.op("Squeeze", v, g.integers(1)), tensorFloat64, shape...)
		return
	}
	g.output(name, v, tensorFloat64, append([]int{targets}, shape...)...)
}

// central returns the index of the level that is closest to the median.
func central(taus []float64) (at int64) {
	for i, t := range taus {
		if math.Abs(t-0.5) < math.Abs(taus[at]-0.5) {
			at = int64(i)
		}
	}
	return at
}
