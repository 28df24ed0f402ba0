// Package trust draws how the weight is distributed among the members of a mixture along a stream.
package trust

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/learner"
)

// kinds are the groups of members, each of which has an area, from the bottom to the top. A
// calibrated twin belongs to the group of its member.
var kinds = [...]string{"the algorithm", "linear", "last label", "short", "reset"}

// kindOf returns the index of the group of a member.
func kindOf(m *learner.MemberScore) int {
	name, _, _ := strings.Cut(m.Name, ",")
	switch {
	case m.Labels:
		return 2
	case strings.HasPrefix(name, "linear:"):
		return 1
	case name == "short":
		return 3
	case name == "reset":
		return 4
	}
	return 0
}

// Recorder records the weights along a stream. The zero value is empty.
type Recorder struct{ points []point }

// point holds sums over the looks since the previous point.
type point struct {
	examples float64
	shares   [len(kinds)]float64 // share of each group in the weight of the members; the shares of a look add up to 1
	stacked  float64
	number   float64 // number of looks
}

// Look adds the current weights of a learner with a mixture to the next point.
func (r *Recorder) Look(p *learner.Progress) {
	if p.Mixture == nil {
		return
	}
	if len(r.points) == 0 || r.points[len(r.points)-1].examples > 0 {
		r.points = append(r.points, point{})
	}
	q, total := &r.points[len(r.points)-1], 0.0
	var shares [len(kinds)]float64
	for i := range p.Mixture.Members {
		m := &p.Mixture.Members[i]
		shares[kindOf(m)] += m.Weight
		total += m.Weight
	}
	if !(total > 0) {
		return
	}
	for k, v := range shares {
		q.shares[k] += v / total
	}
	q.stacked += p.Mixture.Stacked
	q.number++
}

// End completes the current point after that many examples.
func (r *Recorder) End(examples int64) {
	if n := len(r.points); n > 0 && r.points[n-1].number > 0 {
		r.points[n-1].examples = float64(examples)
	}
}

// Empty reports whether r has fewer than two points, between which areas can be drawn.
func (r *Recorder) Empty() bool { return len(r.points) < 2 || r.points[1].examples == 0 }

// Plot returns a plot of r, and its legend. The shares of the groups in the mixture are stacked
// areas, and the share of the stacks in the prediction is a line.
func (r *Recorder) Plot() (picture, legend *plot.Plot, err error) {
	p, legend := plot.New(), chart.NewLegend()
	p.Y.Label.Text, p.X.Label.Text = "share in the mixture", "examples"
	p.X.Tick.Marker = plot.TickerFunc(chart.RoundNumbers)
	p.Y.Min, p.Y.Max = 0, 1
	low := make(plotter.XYs, 0, len(r.points))
	var stacked plotter.XYs
	for _, q := range r.points {
		if q.examples > 0 {
			low = append(low, plotter.XY{X: q.examples})
			stacked = append(stacked, plotter.XY{X: q.examples, Y: q.stacked / q.number})
		}
	}
	if len(low) == 0 {
		p.X.Min, p.X.Max = 0, 1
		return p, legend, nil
	}
	for k, name := range kinds {
		var outline plotter.XYs
		high := make(plotter.XYs, len(low))
		for i, v := range low {
			high[i] = plotter.XY{X: v.X, Y: v.Y + r.points[i].shares[k]/r.points[i].number}
		}
		outline = append(outline, high...)
		for i := range low {
			outline = append(outline, low[len(low)-1-i])
		}
		area, err := chart.NewArea(outline, k)
		if err != nil {
			return nil, nil, err
		}
		p.Add(area)
		legend.Legend.Add(name, area)
		low = high
	}
	line, err := chart.NewLine(stacked, blackLine)
	if err != nil {
		return nil, nil, err
	}
	line.Width = vg.Points(1)
	p.Add(line)
	legend.Legend.Add("share of the stacks", line)
	return p, legend, nil
}

// blackLine is the index of the line of a chart that is black.
const blackLine = 6
