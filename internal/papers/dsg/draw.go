package dsg

import (
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/accrete-ml/accrete/internal/chart"
)

// Draw writes plots of the results in r to PNG files in dir: novelties, the rate of convergence,
// the posterior, support vector machines, and for each set the loss over features and seconds.
func (r *Report) Draw(dir string) error {
	for _, picture := range []struct {
		file string
		rows int
		draw func(i int) ([]*plot.Plot, error)
	}{
		{"dsg-novelty.png", min(1, len(r.Novelties)), func(int) ([]*plot.Plot, error) { return r.drawNovelties() }},
		{"dsg-rate.png", min(1, len(r.Rates)), func(int) ([]*plot.Plot, error) { return r.drawRates() }},
		{"dsg-posterior.png", r.posteriors(), func(int) ([]*plot.Plot, error) { return r.Posterior.draw() }},
		{"dsg-svm.png", (len(r.SVMs) + 1) / 2, r.drawSVMs},
		{"cdsg-features.png", len(r.Growth), func(i int) ([]*plot.Plot, error) { return r.Growth[i].draw() }},
	} {
		var rows [][]*plot.Plot
		for i := range picture.rows {
			row, err := picture.draw(i)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		if len(rows) == 0 {
			continue
		}
		if err := chart.Save(filepath.Join(dir, picture.file), "", rows); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) posteriors() int {
	if r.Posterior == nil {
		return 0
	}
	return 1
}

func logarithmic(p *plot.Plot, x, y string) {
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(chart.Decades), plot.TickerFunc(chart.Decades)
	p.Add(plotter.NewGrid())
}

// drawRates draws the error of the mean of the iterates over steps, and the line 1/t.
func (r *Report) drawRates() ([]*plot.Plot, error) {
	legend, p := chart.NewLegend(), plot.New()
	p.Title.Text = "Error of the mean of the iterates"
	logarithmic(p, "steps", "mean squared distance")
	var guide plotter.XYs
	k := 0
	for _, s := range r.Rates {
		if s.Diverges {
			continue
		}
		var line plotter.XYs
		for _, at := range s.Points {
			line = append(line, plotter.XY{X: float64(at.Step), Y: at.Mean})
		}
		if guide == nil {
			for _, at := range s.Points {
				guide = append(guide, plotter.XY{X: float64(at.Step), Y: 0.1 / float64(at.Step)})
			}
		}
		if err := add(p, legend, line, k, s.Schedule); err != nil {
			return nil, err
		}
		k++
	}
	return []*plot.Plot{p, legend}, add(p, legend, guide, k, "1/t")
}

func add(p, legend *plot.Plot, line plotter.XYs, k int, name string) error {
	l, err := chart.NewLine(line, k)
	if err != nil {
		return err
	}
	p.Add(l)
	if legend != nil {
		legend.Legend.Add(name, l)
	}
	return nil
}

// draw draws the loss over features and over seconds.
func (g *GrowthReport) draw() ([]*plot.Plot, error) {
	legend := chart.NewLegend()
	axes := []struct {
		label string
		value func(GrowthPoint) float64
		key   *plot.Plot
	}{
		{"features", func(p GrowthPoint) float64 { return float64(p.Features) }, legend},
		{"seconds of processor time after the warm-up", func(p GrowthPoint) float64 { return p.Seconds }, nil},
	}
	var row []*plot.Plot
	for _, axis := range axes {
		p := plot.New()
		logarithmic(p, axis.label, "training loss")
		if axis.key != nil {
			p.Title.Text = g.Set
		} else {
			p.X.Scale, p.X.Tick.Marker = plot.LinearScale{}, plot.TickerFunc(chart.RoundNumbers)
		}
		for k, c := range g.Algorithms {
			var line plotter.XYs
			for _, at := range c.Points {
				if x := axis.value(at); x > 0 && at.Training > 0 {
					line = append(line, plotter.XY{X: x, Y: at.Training})
				}
			}
			if len(line) < 2 {
				continue
			}
			if err := add(p, axis.key, line, k, strings.ToUpper(c.Algorithm)); err != nil {
				return nil, err
			}
		}
		row = append(row, p)
	}
	return append(row, legend), nil
}
