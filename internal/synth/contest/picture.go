package main

import (
	"slices"

	"gonum.org/v1/plot"

	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/internal/chart/trust"
	"github.com/accrete-ml/accrete/internal/synth/concepts"
	"github.com/accrete-ml/accrete/learner"
)

// drawn are the streams in the picture, with titles that describe their changes.
var drawn = []struct{ name, title string }{
	{"agrawal drift", "agrawal drift: three abrupt changes"},
	{"hyperplane drift", "hyperplane drift: a concept that turns"},
	{"rbf", "rbf: no change"},
}

// points is the number of points of an area.
const points = 125

// draw draws the weights of the members on three streams.
func draw(c learner.Config, path string, rows int, seed uint64) error {
	var row []*plot.Plot
	var names *plot.Plot
	for _, d := range drawn {
		s := concepts.All[slices.IndexFunc(concepts.All, func(s concepts.Stream) bool { return s.Name == d.name })]
		var weights trust.Recorder
		next := int64(0)
		if _, err := learn(c, s, rows, seed, func(l *learner.Learner) {
			p := l.Progress()
			weights.Look(&p)
			if p.Examples >= next {
				weights.End(p.Examples)
				next = p.Examples + int64(rows/points)
			}
		}); err != nil {
			return err
		}
		p, legend, err := weights.Plot()
		if err != nil {
			return err
		}
		p.Title.Text = d.title
		if names != nil {
			p.Y.Label.Text = ""
		}
		row, names = append(row, p), legend
	}
	return chart.Save(path, "", [][]*plot.Plot{append(row, names)})
}
