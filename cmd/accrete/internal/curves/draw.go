package curves

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/learner"
)

// errorName returns what the error of a task is called on an axis.
func errorName(t learner.Task) string {
	switch t {
	case learner.Regression:
		return "nMSE"
	case learner.Novelty:
		return "share of flagged rows"
	}
	return "error"
}

// Draw draws curves to a PNG or SVG file: the error over examples, over time and over random
// features. Below them are the weights of the first curve that belongs to a mixture.
func Draw(path, name string, task learner.Task, curves []Curve) error {
	const least = 1e-4 // a logarithmic axis cannot show 0
	low, high := 1.2, least
	for _, c := range curves {
		for _, p := range c.points {
			low, high = min(low, max(p.error, least)), max(high, p.error)
		}
	}
	high = math.Min(high, 1.2)
	legend := chart.NewLegend()
	var row []*plot.Plot
	for i, axis := range axes {
		p := plot.New()
		if i == 0 {
			p.Y.Label.Text = errorName(task)
		}
		p.X.Label.Text = axis.name
		p.Add(plotter.NewGrid())
		p.X.Tick.Marker = plot.TickerFunc(chart.RoundNumbers)
		if axis.features {
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(chart.Decades)
		}
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(chart.Decades)
		for k, c := range curves {
			line := axis.line(c, low, high)
			if len(line) == 0 {
				continue
			}
			l, err := mark(line, k)
			if err != nil {
				return err
			}
			p.Add(l)
			if i == 0 {
				if c.name == display.Majority(learner.Classification) {
					c.name = display.Majority(task)
				}
				legend.Legend.Add(c.name, l)
			}
		}
		switch {
		case math.IsInf(p.X.Min, 0): // no lines
			p.X.Min, p.X.Max = 1, 10
		case p.X.Min == p.X.Max: // points only
			p.X.Min, p.X.Max = p.X.Min/2, 2*p.X.Max
		}
		p.Y.Min, p.Y.Max = low*0.95, high*1.05
		row = append(row, p)
	}
	rows := [][]*plot.Plot{append(row, legend)}
	if i := slices.IndexFunc(curves, func(c Curve) bool { return !c.weights.Empty() }); i >= 0 {
		shares, names, err := curves[i].weights.Plot()
		if err != nil {
			return err
		}
		rows = append(rows, []*plot.Plot{shares, names, nil, nil})
	}
	return chart.Save(path, name+": "+errorName(task)+" of the last 1,000 examples", rows)
}

// axis is what a curve is drawn over.
type axis struct {
	name     string
	of       func(point) float64
	features bool // on a logarithmic scale
}

var axes = []axis{
	{"examples", func(p point) float64 { return p.examples }, false},
	{"seconds", func(p point) float64 { return p.seconds }, false},
	{"features", func(p point) float64 { return p.features }, true},
}

// line returns the errors of a curve, kept from low to high. Of points with the same number of
// features it has the first. If a model starts again with fewer features, it leaves out the points
// with as many before.
func (a axis) line(c Curve, low, high float64) (line plotter.XYs) {
	for _, q := range c.points {
		x, n := a.of(q), len(line)
		switch {
		case !(x > 0), a.features && n > 0 && x == line[n-1].X:
			continue
		case a.features:
			for n > 0 && line[n-1].X >= x {
				n--
			}
		}
		line = append(line[:n], plotter.XY{X: x, Y: max(low, min(high, q.error))})
	}
	return line
}

// mark returns the k-th line of a plot, or a point if the line has only one.
func mark(line plotter.XYs, k int) (interface {
	plot.Plotter
	plot.Thumbnailer
}, error,
) {
	if len(line) == 1 {
		return chart.NewPoints(line, k)
	}
	return chart.NewLine(line, k)
}
