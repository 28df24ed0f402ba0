package main

import (
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/accrete-ml/accrete/learner"
)

// A curve is how well a learner did, at some moments of its pass over a file.
type curve struct {
	name   string
	points []point
}

// point is one of the moments. Its error is that of the last 1,000 examples.
type point struct {
	examples, seconds, features, error float64
}

// add notes where a learner is.
func (c *curve) add(p learner.Progress, s learner.Score, took time.Duration) {
	c.points = append(c.points, point{float64(p.Examples), took.Seconds(), float64(p.Features), s.Error})
}

// moments says at which of n examples, or as if there were a million where n is
// not known, a curve has its points: closer together at first.
func moments(n int) func(examples int) bool {
	if n <= 0 {
		n = 1_000_000
	}
	next, factor := 256.0, math.Max(1.02, math.Pow(float64(n)/256, 1./60))
	return func(examples int) bool {
		if float64(examples) < next {
			return false
		}
		next = float64(examples) * factor
		return true
	}
}

// colours are easy to tell apart, for the colour-blind as well (Okabe and Ito
// 2008).
var colours = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255}, {150, 150, 40, 255},
}

// picture draws curves to a PNG file: the error against examples, against time
// and against features. what says which error it is.
func picture(path, title, what string, curves []curve) error {
	axes := []struct {
		name string
		of   func(point) float64
		log  bool
	}{
		{"examples", func(p point) float64 { return p.examples }, false},
		{"seconds", func(p point) float64 { return p.seconds }, false},
		{"features", func(p point) float64 { return p.features }, true},
	}
	const least = 1e-4 // an axis of logarithms has no 0
	low, high := 1.2, least
	for _, c := range curves {
		for _, p := range c.points {
			low, high = min(low, max(p.error, least)), max(high, p.error)
		}
	}
	high = math.Min(high, 1.2)
	legend := newLegend()
	var row []*plot.Plot
	for i, axis := range axes {
		p := plot.New()
		if i == 0 {
			p.Title.Text = title
			p.Y.Label.Text = what
		}
		p.X.Label.Text = axis.name
		p.Add(plotter.NewGrid())
		p.X.Tick.Marker = plot.TickerFunc(plain)
		if axis.log {
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decades)
		}
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decades)
		for k, c := range curves {
			var line plotter.XYs
			for _, q := range c.points {
				if x := axis.of(q); x > 0 && (axis.name != "features" || x != last(line)) {
					line = append(line, plotter.XY{X: x, Y: max(low, min(high, q.error))})
				}
			}
			if len(line) < 2 && axis.name == "features" && len(line) == 1 {
				line = append(line, line[0])
			}
			if len(line) < 2 {
				continue
			}
			l, err := newLine(line, k)
			if err != nil {
				return err
			}
			p.Add(l)
			if i == 0 {
				legend.Legend.Add(c.name, l)
			}
		}
		if math.IsInf(p.X.Min, 0) { // there is no line
			p.X.Min, p.X.Max = 1, 10
		}
		p.Y.Min, p.Y.Max = low*0.95, high*1.05
		row = append(row, p)
	}
	return save(path, [][]*plot.Plot{append(row, legend)})
}

// newLegend is a plot with nothing but a legend.
func newLegend() *plot.Plot {
	p := plot.New()
	p.HideAxes()
	p.Legend.Left, p.Legend.Top, p.Legend.Padding = true, true, vg.Points(2)
	return p
}

// newLine is the k-th line of a plot.
func newLine(points plotter.XYs, k int) (*plotter.Line, error) {
	l, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	l.Color, l.Width = colours[k%len(colours)], vg.Points(1.6)
	if k >= len(colours) {
		l.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	return l, nil
}

// save draws rows of plots to a PNG file.
func save(path string, rows [][]*plot.Plot) error {
	cols, height := len(rows[0]), 400.0
	if len(rows) > 1 {
		height = 260 * float64(len(rows))
	}
	image := vgimg.NewWith(vgimg.UseWH(vg.Points(300*float64(cols)), vg.Points(height)), vgimg.UseDPI(96))
	tiles := draw.Tiles{Rows: len(rows), Cols: cols, PadX: vg.Points(12), PadY: vg.Points(12), PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(8)}
	for i, row := range plot.Align(rows, tiles, draw.New(image)) {
		for j, canvas := range row {
			rows[i][j].Draw(canvas)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: image}).WriteTo(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// plain marks round numbers, written without needless zeros.
func plain(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'g', 6, 64)
		}
	}
	return ticks
}

// decades marks 1, 2 and 5 of each decade.
func decades(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for d := math.Pow(10, math.Floor(math.Log10(low))); d <= high; d *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if v := m * d; v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
			}
		}
	}
	return ticks
}

// last is the abscissa of a line's last point.
func last(line plotter.XYs) float64 {
	if len(line) == 0 {
		return math.NaN()
	}
	return line[len(line)-1].X
}
