package papers

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/refit/optim"
)

// Draw writes each figure to a PNG file in dir, with one row per problem: the
// gap over passes, and over seconds.
func (r *Report) Draw(dir string) error {
	var figures []string
	rows := map[string][][]*plot.Plot{}
	for _, c := range r.Contests {
		row, err := c.plots()
		if err != nil {
			return err
		}
		if rows[c.Figure] == nil {
			figures = append(figures, c.Figure)
		}
		rows[c.Figure] = append(rows[c.Figure], row)
	}
	for _, figure := range figures {
		name := "dspdc-" + strings.ReplaceAll(figure, " ", "-") + ".png"
		if err := chart.Save(filepath.Join(dir, name), "", rows[figure]); err != nil {
			return err
		}
	}
	return nil
}

// methods lists the methods of all contests. Each has the same colour in all
// pictures.
var methods = []string{"DSPDC", "SPDC", "SDCA", "DSPDC, exact Λ", "DSPDC, m=n, q=p", "SPDC, A formed", "SDCA, A formed", "SVRG, A formed"}

// axes are the horizontal axes of the plots of gaps.
var axes = []struct {
	label       string
	value       func(optim.Point) float64
	logarithmic bool
}{
	{"passes", func(p optim.Point) float64 { return p.Passes }, true},
	{"seconds of processor time", func(p optim.Point) float64 { return p.Seconds }, false},
}

// plots returns a plot for each axis, and the legend.
func (c *ContestReport) plots() ([]*plot.Plot, error) {
	legend := chart.NewLegend()
	var row []*plot.Plot
	for i, axis := range axes {
		p := plot.New()
		p.X.Label.Text, p.Y.Label.Text = axis.label, "gap"
		if i == 0 {
			p.Title.Text = strings.Replace(c.Problem, ": ", ":\n", 1)
			p.Title.TextStyle.Font.Size = vg.Points(10)
		}
		p.Add(plotter.NewGrid())
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(chart.PowersOfTen)
		if axis.logarithmic {
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(chart.PowersOfTen)
		}
		low, high := 1.0, 1.0
		for _, curve := range c.curves {
			var line plotter.XYs
			for _, at := range curve.points {
				x, y := axis.value(at), math.Max(at.Gap(), leastGap)
				if axis.logarithmic && x == 0 {
					continue
				}
				line = append(line, plotter.XY{X: x, Y: y})
				low, high = math.Min(low, y), math.Max(high, y)
			}
			if len(line) < 2 {
				continue
			}
			l, err := chart.NewLine(line, max(0, slices.Index(methods, curve.name)))
			if err != nil {
				return nil, err
			}
			p.Add(l)
			if i == 0 {
				legend.Legend.Add(curve.name, l)
			}
		}
		if !axis.logarithmic {
			p.X.Min = 0
		}
		p.Y.Min, p.Y.Max = math.Min(low/1.5, 0.05), high*1.5
		row = append(row, p)
	}
	return append(row, legend), nil
}
