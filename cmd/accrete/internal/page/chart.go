package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
)

// The coordinates of a chart are those of its viewBox, which the page stretches.
const (
	chartWidth  = 1000
	chartHeight = 300
	sparkWidth  = 240
	sparkHeight = 48
	fewest      = 30 // minimum width of a small chart, in seconds
)

// chart is the chart of the errors.
type chart struct {
	Width, Height int
	Series        []series
	Drifts        []float64 // x coordinates
	DriftCount    int
	Grid          []float64 // y coordinates
	Y             []string  // labels of Grid, from the top
	X             []string  // labels, evenly spaced
	Rows          []chartRow
	Summary       string // for readers who cannot see the chart
	Examples      string // what is counted
	Empty         bool
}

type series struct {
	Class, Name string
	Path        string
	Value       string  // latest
	Exact       float64 // the same value, not rounded
}

// chartRow is a row of the table that shows the errors of the chart as numbers.
type chartRow struct {
	Examples string
	Errors   []string
}

var errorNames = [4]struct{ class, name string }{{"model", "accrete"}, {"linear", "linear"}, {"majority", "majority"}, {"nochange", "no change"}}

func errorsOf(p timeline.Point) [4]float64 {
	return [4]float64{float64(p.Model), float64(p.Linear), float64(p.Majority), float64(p.NoChange)}
}

// newChart draws the errors. latest are the values beside the names; NaN if unknown. Novelty has no
// baselines: what counts as its error is the share of records that are flagged.
func newChart(line *timeline.Timeline, latest [4]float64, task learner.Task) chart {
	c := chart{Width: chartWidth, Height: chartHeight, Examples: "labelled examples", Empty: len(line.Points) < 2}
	names := errorNames[:]
	if task == learner.Novelty {
		names, c.Examples = names[:1], "records"
	}
	top, from, to := 1.0, 0.0, 1.0
	if !c.Empty {
		from, to = float64(line.Points[0].Examples), float64(line.Points[len(line.Points)-1].Examples)
		top = highest(line.Points, len(names))
	}
	step := niceStep(top / 5)
	lines := int(math.Ceil(top/step - 1e-9))
	top = float64(lines) * step
	x := func(examples float64) float64 { return round(chartWidth * (examples - from) / (to - from)) }
	for i := lines; i >= 0; i-- {
		c.Grid = append(c.Grid, round(chartHeight*float64(lines-i)/float64(lines)))
		c.Y = append(c.Y, strconv.FormatFloat(float64(i)*step, 'g', 4, 64))
	}
	for k, n := range names {
		name := n.name
		if n.class == "majority" {
			name = display.Majority(task)
		}
		s := series{Class: n.class, Name: name, Value: figure(latest[k]), Exact: latest[k]}
		if !c.Empty {
			s.Path = path(line.Points, func(p timeline.Point) (float64, float64) {
				return x(float64(p.Examples)), round(chartHeight * (1 - min(1.1, errorsOf(p)[k]/top)))
			})
		}
		c.Series = append(c.Series, s)
	}
	if c.Empty {
		c.Summary = "No errors yet."
		return c
	}
	for _, d := range line.Drifts {
		if at := float64(d); at >= from && at <= to {
			c.Drifts = append(c.Drifts, x(at))
		}
	}
	c.DriftCount = len(c.Drifts)
	const labels = 5
	for i := range labels {
		c.X = append(c.X, short(from+(to-from)*float64(i)/(labels-1)))
	}
	c.table(line)
	what, now := "Progressive error", fmt.Sprintf("accrete %s, linear %s", figure(latest[0]), figure(latest[1]))
	if task == learner.Novelty {
		what, now = "Share of records flagged", figure(latest[0])
	}
	c.Summary = fmt.Sprintf("%s from %s to %s examples. Latest: %s. %d detections of drift.", what, short(from), short(to), now, c.DriftCount)
	return c
}

// table fills the table with at most twelve points of the line.
func (c *chart) table(line *timeline.Timeline) {
	const most = 12
	n := len(line.Points)
	for i := range min(n, most) {
		p := line.Points[(n-1)*i/max(1, min(n, most)-1)]
		r := chartRow{Examples: count(p.Examples)}
		errors := errorsOf(p)
		for _, v := range errors[:len(c.Series)] {
			r.Errors = append(r.Errors, figure(v))
		}
		c.Rows = append(c.Rows, r)
	}
}

// highest returns a value that hardly any of the first n errors of the points exceeds, so that a few
// large ones at the beginning do not flatten the rest.
func highest(points []timeline.Point, n int) float64 {
	var all []float64
	for _, p := range points {
		e := errorsOf(p)
		all = append(all, e[:n]...)
	}
	slices.Sort(all)
	top := all[int(math.Ceil(0.97*float64(len(all)-1)))] * 1.05
	if !(top > 0) {
		return 1
	}
	return top
}

// niceStep returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// path returns the d attribute of the line through the points.
func path[T any](points []T, at func(T) (x, y float64)) string {
	var b strings.Builder
	for i, p := range points {
		x, y := at(p)
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(strconv.FormatFloat(x, 'f', -1, 64))
		b.WriteByte(' ')
		b.WriteString(strconv.FormatFloat(y, 'f', -1, 64))
	}
	return b.String()
}

// spark returns the line of a small chart and the area below it, from 0 to the maximum. It
// ends at the right edge and covers one second per value.
func spark(values []float64) (line, area string) {
	if len(values) < 2 {
		return "", ""
	}
	top := slices.Max(values)
	if !(top > 0) || math.IsInf(top, 0) {
		top = 1
	}
	all := max(len(values), fewest)
	i := all - len(values)
	left := round(sparkWidth * float64(i) / float64(all-1))
	line = path(values, func(v float64) (float64, float64) {
		x := round(sparkWidth * float64(i) / float64(all-1))
		i++
		return x, round(2 + (sparkHeight-4)*(1-v/top))
	})
	return line, fmt.Sprintf("%sL%d %dL%g %dZ", line, sparkWidth, sparkHeight, left, sparkHeight)
}

func round(v float64) float64 { return math.Round(v*10) / 10 }
