package bench

import (
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/learner"
)

// withEffort is the name of newton with an effort, without the mixture.
func withEffort(effort string) string { return learner.Algorithms()[0].Name + "/" + effortOf + effort }

// effortsError returns an error if an effort in --algorithms or --efforts is invalid.
func (c *Command) effortsError() error {
	for _, name := range c.Algorithms {
		if _, effort, ok := strings.Cut(name, "/"+effortOf); ok {
			if _, err := learner.ParseEffort(effort); err != nil {
				return exit.Usage("--algorithms: %w", err)
			}
		}
	}
	for _, effort := range c.Efforts {
		if _, err := learner.ParseEffort(effort); err != nil {
			return exit.Usage("--efforts: %w", err)
		}
	}
	return nil
}

// error returns the error that the plot of efforts shows: the test error, or the progressive error
// of a stream. With several orders it is their mean.
func (r *result) error() float64 {
	switch {
	case r.Spread != nil && r.Spread.Test != nil:
		return r.Spread.Test.Mean
	case r.Test != nil:
		return r.Test.Value()
	case r.Spread != nil:
		return r.Spread.Progressive.Mean
	}
	return r.Progressive.Value()
}

// drawEfforts writes effort.svg to the folder of plots. It has a curve for each set: the error with
// each effort against the examples per CPU-second. Each point is labelled with its effort.
func (c *Command) drawEfforts(reports []report) error {
	p, legend := plot.New(), chart.NewLegend()
	p.X.Label.Text, p.Y.Label.Text = "examples per CPU-second", "error"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(chart.Decades)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(chart.Decades)
	for k, r := range reports {
		var points plotter.XYs
		var efforts []string
		for _, a := range r.Results {
			if _, effort, ok := strings.Cut(a.Algorithm, effortOf); ok && a.PerCPUSecond > 0 && a.error() > 0 {
				points = append(points, plotter.XY{X: a.PerCPUSecond, Y: a.error()})
				efforts = append(efforts, effort)
			}
		}
		if len(points) == 0 {
			continue
		}
		line, err := chart.NewLine(points, k)
		if err != nil {
			return err
		}
		dots, err := chart.NewPoints(points, k)
		if err != nil {
			return err
		}
		names, err := plotter.NewLabels(plotter.XYLabels{XYs: points, Labels: efforts})
		if err != nil {
			return err
		}
		names.Offset = vg.Point{X: vg.Points(5), Y: vg.Points(-8)}
		p.Add(line, dots, names)
		legend.Legend.Add(r.Set, line)
	}
	return chart.Save(filepath.Join(c.Plots, "effort.svg"), "", [][]*plot.Plot{{p, legend}})
}
