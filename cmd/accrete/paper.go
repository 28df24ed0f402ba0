package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/accrete-ml/accrete/refit"
)

// paperReport is what comes out of a paper's experiments.
type paperReport struct {
	Contests  []contestReport  `json:"contests"`
	Neighbors []neighborReport `json:"neighbors"`
}

// contestReport is one problem and what the methods made of it.
type contestReport struct {
	Figure  string         `json:"figure"`
	Problem string         `json:"problem"`
	Methods []methodReport `json:"methods"`

	curves []refit.Curve
}

type methodReport struct {
	Method   string   `json:"method"`
	FirstGap float64  `json:"first_gap"`
	Gap      float64  `json:"gap"` // in the end
	Passes   float64  `json:"passes"`
	Seconds  float64  `json:"seconds"` // of processor time, here and below
	Reach    []*reach `json:"reach"`   // of reaches; null for one that was not reached
}

// reach is what it took to come to a gap.
type reach struct {
	Gap     float64 `json:"gap"`
	Passes  float64 `json:"passes"`
	Seconds float64 `json:"seconds"`
}

// reaches are the gaps that methods are compared by.
var reaches = []float64{1e-2, 1e-4, 1e-6}

// neighborErrors is how often the three nearest neighbours of a row are wrong,
// under different metrics.
type neighborErrors struct {
	Euclidean float64 `json:"euclidean"`
	One       float64 `json:"one"`  // metric for all tasks
	Many      float64 `json:"many"` // a shared one, and one for each task
	Rows      int     `json:"rows"` // that were checked
}

// neighborReport is these errors over some splits of tasks into rows to learn from
// and rows to check.
type neighborReport struct {
	Tasks     string    `json:"tasks"`
	Splits    int       `json:"splits"`
	Euclidean estimate  `json:"euclidean"`
	One       estimate  `json:"one"`
	Many      estimate  `json:"many"`
	Gain      estimate  `json:"gain"` // One - Many of a split
	Weights   []weights `json:"weights"`
	Seconds   float64   `json:"seconds"`
}

// weights are those that were chosen for a split.
type weights struct {
	One    float64 `json:"one"` // of the metric that is alone
	Shared float64 `json:"shared"`
	Own    float64 `json:"own"`
}

// estimate is a mean and its standard error.
type estimate struct {
	Mean          float64 `json:"mean"`
	StandardError float64 `json:"standard_error"`
}

func newEstimate(x []float64) estimate {
	mean, deviation := stat.MeanStdDev(x, nil)
	return estimate{mean, stat.StdErr(deviation, float64(len(x)))}
}

func (e estimate) String() string { return fmt.Sprintf("%.4f ± %.4f", e.Mean, e.StandardError) }

func (c *benchCommand) dspdc(ctx context.Context, e *env) error {
	if !(c.Seconds > 0) {
		return wrongUse("--seconds %v: want more than 0", c.Seconds)
	}
	var report paperReport
	progress := e.progress(false)
	run := func(problem *refit.Contest) error {
		curves, err := problem.Run(ctx, c.Seconds, 1e6, cpuSeconds, func(method string) {
			progress.update(fmt.Sprintf("%s: %s: %s", problem.Figure, problem.Title, method), nil)
		})
		if err == nil {
			report.Contests = append(report.Contests, newContestReport(problem, curves))
		}
		return err
	}
	for problem := range refit.Contests(c.Full) {
		if err := run(problem); err != nil {
			return err
		}
	}
	if _, ok := c.path("covtype15k", "train"); ok && c.Dir != "" {
		set, err := c.read(ctx, e, "covtype15k")
		if err != nil {
			return err
		}
		if err := run(set.projected()); err != nil {
			return err
		}
	}
	sets, err := c.taskSets(ctx, e)
	if err != nil {
		return err
	}
	splits := 3 // that metrics are compared on
	if c.Full {
		splits = 5
	}
	for _, s := range sets {
		if s.contest {
			learn, _ := s.split(0)
			problem, err := refit.MetricContest(s.name, learn, s.dim, refit.MetricConfig{}, 20, 4)
			if err != nil {
				return err
			}
			if err := run(problem); err != nil {
				return err
			}
		}
		n, err := s.neighbors(ctx, splits, func(split int) {
			progress.update(fmt.Sprintf("nearest neighbours: %s, split %d of %d", s.name, split+1, splits), nil)
		})
		if err != nil {
			return err
		}
		report.Neighbors = append(report.Neighbors, n)
	}
	progress.done()
	if c.Plots != "" {
		if err := report.draw(c.Plots); err != nil {
			return err
		}
	}
	return e.print(c.JSON, report.String(), report)
}

func newContestReport(problem *refit.Contest, curves []refit.Curve) contestReport {
	r := contestReport{Figure: problem.Figure, Problem: problem.Title, curves: curves}
	for _, curve := range curves {
		first, last := curve.Points[0], curve.Points[len(curve.Points)-1]
		m := methodReport{Method: curve.Name, FirstGap: first.Gap(), Gap: last.Gap(), Passes: last.Passes, Seconds: last.Seconds}
		for _, goal := range reaches {
			var at *reach
			for _, p := range curve.Points {
				if p.Gap() <= goal {
					at = &reach{goal, p.Passes, p.Seconds}
					break
				}
			}
			m.Reach = append(m.Reach, at)
		}
		r.Methods = append(r.Methods, m)
	}
	return r
}

// taskSet is tasks that have something in common.
type taskSet struct {
	name    string
	dim     int
	split   func(seed uint64) (learn, check []refit.Labelled)
	contest bool // it is none of refit.Contests yet
}

// taskSets returns the generated tasks, and those of the set letter if there is one.
func (c *benchCommand) taskSets(ctx context.Context, e *env) ([]taskSet, error) {
	const dim = 16
	sets := []taskSet{{name: "related tasks", dim: dim, split: func(seed uint64) (learn, check []refit.Labelled) {
		return refit.RelatedTasks(1+seed, 10, 60, 200, dim)
	}}}
	if c.Dir == "" {
		return sets, nil
	}
	if _, ok := c.path("letter", "train"); !ok {
		return nil, wrongUse("%s has no letter.train.csv, plain or .gz", c.Dir)
	}
	letter, err := c.read(ctx, e, "letter")
	if err != nil {
		return nil, err
	}
	return append(sets, taskSet{"letter", len(letter.schema.Columns), letter.tasks, true}), nil
}

// columnScales returns what the columns of a set are at most, and at least 1e-9.
func (s *benchSet) columnScales() []float64 {
	scale := make([]float64, len(s.schema.Columns))
	for k := range scale {
		scale[k] = 1e-9
		for _, row := range s.rows {
			scale[k] = max(scale[k], math.Abs(row.X[k]))
		}
	}
	return scale
}

// projected is figure 2 on a set: class 1 against the others, as the paper's
// Covtype has it, with its d, λ₁ and λ₂.
func (s *benchSet) projected() *refit.Contest {
	scale := s.columnScales()
	var x, b []float64
	for _, row := range s.rows {
		for k, v := range row.X {
			x = append(x, v/scale[k])
		}
		target := -1.0
		if s.schema.Classes[row.Label.Class] == "1" {
			target = 1
		}
		b = append(b, target)
	}
	return refit.ProjectedContest(s.name, x, b, len(scale), len(scale)/2, 20, 1e-4, 1e-2)
}

// tasks splits a set into tasks of five classes each: 40 rows of a class to learn
// from, the first ones in an order by the seed, and all test rows to check.
// Columns are divided by their greatest deviation from 0.
func (s *benchSet) tasks(seed uint64) (learn, check []refit.Labelled) {
	const each, rows = 5, 40
	learn, check = make([]refit.Labelled, len(s.schema.Classes)/each), make([]refit.Labelled, len(s.schema.Classes)/each)
	scale := s.columnScales()
	add := func(to []refit.Labelled, x []float64, class int) {
		task := class / each
		if task >= len(to) {
			return
		}
		for k, v := range x {
			to[task].Points = append(to[task].Points, v/scale[k])
		}
		to[task].Classes = append(to[task].Classes, class)
	}
	seen := make([]int, len(s.schema.Classes))
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(s.rows)) {
		row := s.rows[i]
		if seen[row.Label.Class]++; seen[row.Label.Class] <= rows {
			add(learn, row.X, row.Label.Class)
		}
	}
	for _, row := range s.test {
		add(check, row.X, row.Label.Class)
	}
	return learn, check
}

// neighbors compares metrics by the errors of nearest neighbours. It says which
// split comes next.
func (s *taskSet) neighbors(ctx context.Context, splits int, next func(split int)) (neighborReport, error) {
	r := neighborReport{Tasks: s.name, Splits: splits}
	begin := cpuSeconds()
	var euclidean, one, many, gain []float64
	for split := range splits {
		next(split)
		learn, check := s.split(uint64(split))
		few, _, c1, err := learnMetrics(ctx, learn, s.dim, 1e-3, refit.MetricConfig{Single: true})
		if err != nil {
			return r, err
		}
		all, _, c, err := learnMetrics(ctx, learn, s.dim, 1e-3, refit.MetricConfig{})
		if err != nil {
			return r, err
		}
		e := newNeighborErrors(learn, check, s.dim, few, all)
		euclidean, one, many, gain = append(euclidean, e.Euclidean), append(one, e.One), append(many, e.Many), append(gain, e.One-e.Many)
		r.Weights = append(r.Weights, weights{c1.Shared, c.Shared, c.Own})
	}
	r.Euclidean, r.One, r.Many, r.Gain = newEstimate(euclidean), newEstimate(one), newEstimate(many), newEstimate(gain)
	r.Seconds = cpuSeconds() - begin
	return r, nil
}

func (r *paperReport) String() string {
	var b strings.Builder
	for _, c := range r.Contests {
		fmt.Fprintf(&b, "%s: %s\n%-16s %9s %9s", c.Figure, c.Problem, "", "first gap", "last gap")
		for _, goal := range reaches {
			fmt.Fprintf(&b, " %17s", fmt.Sprintf("%.0e: passes, s", goal))
		}
		for _, m := range c.Methods {
			fmt.Fprintf(&b, "\n%-16s %9.1e %9.1e", m.Method, m.FirstGap, m.Gap)
			for _, at := range m.Reach {
				text := "-"
				if at != nil {
					text = fmt.Sprintf("%.0f, %.2f", at.Passes, at.Seconds)
				}
				fmt.Fprintf(&b, " %17s", text)
			}
		}
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "%-32s %15s %15s %15s %15s", "errors of 3 nearest neighbours", "euclidean", "one", "many", "one - many")
	for _, n := range r.Neighbors {
		fmt.Fprintf(&b, "\n%-32s %15v %15v %15v %15v", fmt.Sprintf("%s, %d splits", n.Tasks, n.Splits), n.Euclidean, n.One, n.Many, n.Gain)
	}
	return b.String()
}

// draw draws each figure, a row a problem: the gap over passes, and over seconds.
func (r *paperReport) draw(dir string) error {
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
		if err := save(filepath.Join(dir, name), rows[figure]); err != nil {
			return err
		}
	}
	return nil
}

// methods are those of all contests, each of which has one colour in all pictures.
var methods = []string{"DSPDC", "SPDC", "SDCA", "DSPDC, exact Λ", "DSPDC, m=n, q=p", "SPDC, A formed", "SDCA, A formed", "SVRG, A formed"}

// leastGap is the gap that pictures end at.
const leastGap = 1e-10

func (c *contestReport) plots() ([]*plot.Plot, error) {
	legend := newLegend()
	var row []*plot.Plot
	for i, of := range []func(refit.Point) float64{
		func(p refit.Point) float64 { return p.Passes },
		func(p refit.Point) float64 { return p.Seconds },
	} {
		p := plot.New()
		p.X.Label.Text, p.Y.Label.Text = []string{"passes", "seconds of processor time"}[i], "gap"
		if i == 0 {
			p.Title.Text = strings.Replace(c.Problem, ": ", ":\n", 1)
			p.Title.TextStyle.Font.Size = vg.Points(10)
		}
		p.Add(plotter.NewGrid())
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(tens)
		if i == 0 {
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(tens)
		}
		low, high := 1.0, 1.0
		for _, curve := range c.curves {
			var line plotter.XYs
			for _, at := range curve.Points {
				x, y := of(at), math.Max(at.Gap(), leastGap)
				if i == 0 && x == 0 {
					continue // where a logarithm has no place
				}
				line = append(line, plotter.XY{X: x, Y: y})
				low, high = math.Min(low, y), math.Max(high, y)
			}
			if len(line) < 2 {
				continue
			}
			l, err := newLine(line, max(0, slices.Index(methods, curve.Name)))
			if err != nil {
				return nil, err
			}
			p.Add(l)
			if i == 0 {
				legend.Legend.Add(curve.Name, l)
			}
		}
		if i == 1 {
			p.X.Min = 0
		}
		p.Y.Min, p.Y.Max = math.Min(low/1.5, 0.05), high*1.5
		row = append(row, p)
	}
	return append(row, legend), nil
}

// tens marks powers of ten, of many every second or third.
func tens(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log10(low))), int(math.Floor(math.Log10(high)))
	step := 1 + (last-first)/7
	var ticks []plot.Tick
	for k := first; k <= last; k += step {
		ticks = append(ticks, plot.Tick{Value: math.Pow(10, float64(k)), Label: "1e" + strconv.Itoa(k)})
	}
	return ticks
}
