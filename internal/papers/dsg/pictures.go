package dsg

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/accrete-ml/accrete/internal/chart"
)

// drawNovelties draws the share of flagged rows over ν, and the AUC over the AUC of the batch
// solver. There is a point for each order, and a line on which both are equal.
func (r *Report) drawNovelties() ([]*plot.Plot, error) {
	flagged, area, legend := plot.New(), plot.New(), chart.NewLegend()
	flagged.Title.Text, area.Title.Text = "Flagged rows", "AUC"
	flagged.X.Label.Text, flagged.Y.Label.Text = "ν", "share"
	area.X.Label.Text, area.Y.Label.Text = "of the batch solver", "in the stream"
	var names []string
	points := map[string][2]plotter.XYs{}
	least := 1.0
	for _, n := range r.Novelties {
		p, ok := points[n.Stream]
		if !ok {
			names = append(names, n.Stream)
		}
		for i, v := range n.Flagged {
			p[0] = append(p[0], plotter.XY{X: n.Nu, Y: v})
			p[1] = append(p[1], plotter.XY{X: n.BatchAUC[i], Y: n.AUC[i]})
			least = min(least, n.AUC[i], n.BatchAUC[i])
		}
		points[n.Stream] = p
	}
	for k, name := range names {
		for i, p := range []*plot.Plot{flagged, area} {
			dots, err := chart.NewPoints(points[name][i], k)
			if err != nil {
				return nil, err
			}
			p.Add(dots)
			if i == 0 {
				legend.Legend.Add(name, dots)
			}
		}
	}
	if err := add(flagged, legend, plotter.XYs{{X: 0, Y: 0}, {X: 0.25, Y: 0.25}}, len(names), "equal"); err != nil {
		return nil, err
	}
	return []*plot.Plot{flagged, area, legend}, add(area, nil, plotter.XYs{{X: least, Y: least}, {X: 1, Y: 1}}, len(names), "")
}

// draw draws the errors of the posterior over processor time.
func (p *PosteriorReport) draw() ([]*plot.Plot, error) {
	legend := chart.NewLegend()
	var row []*plot.Plot
	for i, title := range []string{"Error of the mean", "Error of the variance"} {
		q := plot.New()
		q.Title.Text = title
		logarithmic(q, "seconds of processor time", "root mean square")
		for k, name := range []string{"ridge", "doubly stochastic, second method", "doubly stochastic, first method"} {
			var line plotter.XYs
			for _, m := range p.Methods {
				v := m.Mean
				if i == 1 {
					v = m.Variance
				}
				if strings.HasPrefix(m.Method, name) && v > 0 && m.Seconds > 0 {
					line = append(line, plotter.XY{X: m.Seconds, Y: v})
				}
			}
			if len(line) < 2 {
				continue
			}
			key := legend
			if i == 0 {
				key = nil
			}
			if err := add(q, key, line, k, name); err != nil {
				return nil, err
			}
		}
		row = append(row, q)
	}
	return append(row, legend), nil
}

// drawSVMs draws a row of bar charts for two sets: the test error of each method after one pass,
// and after the time that one pass of doubly stochastic gradients takes.
func (r *Report) drawSVMs(i int) ([]*plot.Plot, error) {
	var row []*plot.Plot
	legend := chart.NewLegend()
	for _, s := range r.SVMs[2*i : min(2*i+2, len(r.SVMs))] {
		p := plot.New()
		p.Title.Text, p.X.Label.Text, p.X.Min = s.Set, "test error", 0
		var names []string
		var pass, time plotter.Values
		all := s.Methods
		if s.Exact != nil {
			exact := *s.Exact
			exact.InTime = exact.Error
			all = append(all[:len(all):len(all)], exact)
		}
		for k := len(all) - 1; k >= 0; k-- {
			names, pass, time = append(names, all[k].Method), append(pass, all[k].Error), append(time, all[k].InTime)
		}
		for k, values := range []plotter.Values{pass, time} {
			bars, err := chart.NewBars(values, k)
			if err != nil {
				return nil, err
			}
			bars.Horizontal, bars.Offset = true, vg.Points(4-8*float64(k))
			p.Add(bars)
			if len(row) == 0 {
				legend.Legend.Add([]string{"after one pass", "in equal time"}[k], bars)
			}
		}
		p.NominalY(names...)
		row = append(row, p)
	}
	for len(row) < 2 {
		row = append(row, chart.NewLegend())
	}
	return append(row, legend), nil
}
