// Package chart has the common parts of the program's pictures: colours, lines,
// axes, areas, a legend and the PNG or SVG file.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/accrete-ml/accrete/internal/outfile"
)

// colours can be distinguished by the colour-blind as well (Okabe and Ito 2008).
var colours = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255}, {150, 150, 40, 255},
}

// NewLegend returns a plot that shows only a legend.
func NewLegend() *plot.Plot {
	p := plot.New()
	p.HideAxes()
	p.Legend.Left, p.Legend.Top, p.Legend.Padding = true, true, vg.Points(2)
	return p
}

// NewLine returns the k-th line of a plot, with its own colour or dashes.
func NewLine(points plotter.XYs, k int) (*plotter.Line, error) {
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

// NewPoints returns the k-th set of points of a plot.
func NewPoints(points plotter.XYs, k int) (*plotter.Scatter, error) {
	s, err := plotter.NewScatter(points)
	if err != nil {
		return nil, err
	}
	s.Color, s.Shape, s.Radius = colours[k%len(colours)], draw.CircleGlyph{}, vg.Points(3)
	return s, nil
}

// NewBars returns the k-th set of bars of a plot, which are equally spaced.
func NewBars(values plotter.Values, k int) (*plotter.BarChart, error) {
	b, err := plotter.NewBarChart(values, vg.Points(7))
	if err != nil {
		return nil, err
	}
	b.Color, b.LineStyle.Width = colours[k%len(colours)], 0
	return b, nil
}

// NewArea returns the k-th area of a plot, in the colour of its k-th line.
func NewArea(outline plotter.XYs, k int) (*plotter.Polygon, error) {
	a, err := plotter.NewPolygon(outline)
	if err != nil {
		return nil, err
	}
	a.Color, a.LineStyle.Width = colours[k%len(colours)], 0
	return a, nil
}

// Check returns an error unless path ends like a picture that Save draws.
func Check(path string) error {
	if ending := filepath.Ext(path); ending != ".png" && ending != ".svg" {
		return fmt.Errorf("%s: want a name that ends with .png or .svg", path)
	}
	return nil
}

// Save draws rows of plots to a PNG file, or to an SVG file if its name ends with .svg, below a title
// unless that is empty. A nil plot leaves its place empty. Save creates the folder if needed.
func Save(path, title string, rows [][]*plot.Plot) error {
	cols, height := len(rows[0]), 400.0
	if len(rows) > 1 {
		height = 260 * float64(len(rows))
	}
	const margin = 8
	tiles := draw.Tiles{Rows: len(rows), Cols: cols, PadX: vg.Points(12), PadY: vg.Points(12), PadTop: vg.Points(margin), PadBottom: vg.Points(margin), PadLeft: vg.Points(margin), PadRight: vg.Points(margin)}
	style := plot.New().Title.TextStyle
	if title != "" {
		space := style.Height(title) + vg.Points(margin)
		tiles.PadTop += space
		height += space.Points()
	}
	image := newImage(path, vg.Points(300*float64(cols)), vg.Points(height))
	canvas := draw.New(image)
	style.XAlign, style.YAlign = text.XLeft, text.YTop
	canvas.FillText(style, vg.Point{X: canvas.Min.X + vg.Points(margin), Y: canvas.Max.Y - vg.Points(margin)}, title)
	for i, row := range plot.Align(rows, tiles, canvas) {
		for j, canvas := range row {
			if rows[i][j] != nil {
				rows[i][j].Draw(canvas)
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return outfile.Write(path, func(w io.Writer) error {
		_, err := image.WriteTo(w)
		return err
	})
}

// newImage returns the canvas for a file with this name.
func newImage(path string, width, height vg.Length) vg.CanvasWriterTo {
	if strings.HasSuffix(path, ".svg") {
		white := vgsvg.New(width, height)
		white.SetColor(color.White)
		white.Fill(vg.Rectangle{Max: vg.Point{X: width, Y: height}}.Path())
		return white
	}
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(96))}
}

// RoundNumbers returns ticks at round numbers, formatted without trailing
// zeros.
func RoundNumbers(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'g', 6, 64)
		}
	}
	return ticks
}

// Decades returns ticks at 1, 2 and 5 of each decade, or at more digits where fewer than three of these
// are between low and high.
func Decades(low, high float64) (ticks []plot.Tick) {
	for _, digits := range [][]float64{{1, 2, 5}, {1, 2, 3, 4, 6, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		if ticks = decades(low, high, digits...); len(ticks) >= 3 {
			break
		}
	}
	return ticks
}

// decades returns ticks at multiples of each power of ten.
func decades(low, high float64, multiples ...float64) (ticks []plot.Tick) {
	for d := math.Pow(10, math.Floor(math.Log10(low))); d <= high; d *= 10 {
		for _, m := range multiples {
			if v := m * d; v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
			}
		}
	}
	return ticks
}

// PowersOfTen returns ticks at the powers of ten, or only at every second or third power if the
// range is wide.
func PowersOfTen(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log10(low))), int(math.Floor(math.Log10(high)))
	step := 1 + (last-first)/7
	var ticks []plot.Tick
	for k := first; k <= last; k += step {
		ticks = append(ticks, plot.Tick{Value: math.Pow(10, float64(k)), Label: "1e" + strconv.Itoa(k)})
	}
	return ticks
}
