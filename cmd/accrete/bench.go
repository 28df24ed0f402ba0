package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
)

type benchCommand struct {
	jsonFlag
	classFlags
	Dir        string   `arg:"" optional:"" help:"Folder with NAME.train.csv and NAME.test.csv, or NAME.stream.csv; plain or .gz."`
	Sets       []string `placeholder:"NAME" help:"Run only these data sets."`
	Label      string   `placeholder:"NAME" help:"Label of the sets that have a column of this name; the others have y or label."`
	Algorithms []string `placeholder:"NAME" help:"Run only these algorithms, for example newton, ridge, all/adagrad or dsg/rate."`
	Shuffle    uint64   `default:"1" help:"Seed for the order of the training rows; streams keep their order (${default})."`
	Plots      string   `placeholder:"DIR" help:"Folder for one plot per data set, NAME.png."`
	Paper      string   `enum:",dsg,cdsg,dspdc" default:"" placeholder:"NAME" help:"Run the experiments of a paper instead: dsg, cdsg or dspdc."`
	Seconds    float64  `default:"2" help:"Processor time that each method of --paper dspdc has for each problem (${default})."`
	Full       bool     `help:"Run all problems of --paper, including those that need a gigabyte of memory or minutes to converge; takes about 15 minutes."`
}

func (benchCommand) Help() string {
	return `Streams every data set of a folder once through every algorithm with default settings, and compares them with three baselines: the most frequent class (or the mean), the last label, and a linear model. The error is the error rate for classification, and the mean squared error divided by the variance of the labels (nMSE) for regression.

--paper dsg runs the experiments of Dai et al. (2014): the rate of convergence, the posterior of a Gaussian process, and a support vector machine beside NORMA, Pegasos and SDCA on the classes of the folder's sets. --paper cdsg compares DSG with the rules of Li and Póczos (2016), by loss over features and time, on the folder's sets.

--paper dspdc compares the primal-dual coordinate method of Yu, Lin and Yang (2015) with SPDC, SDCA and SVRG by duality gap, on the problems of the paper's section 6. It also compares metrics learned for related tasks with a single metric and with none, on synthetic tasks and, if the folder contains the data set letter, on its letters.`
}

func (benchCommand) Examples() string {
	return `
accrete bench data --plots pictures
accrete bench testdata --paper dsg --plots pictures
accrete bench --paper dspdc --plots pictures
accrete bench data --paper dspdc --full --plots pictures
accrete bench data --sets letter,elec --algorithms newton,ridge --json`
}

// contenders returns the algorithms that bench compares, each as name or as
// name/direction.
func contenders() (names []string) {
	for _, a := range learner.Algorithms() {
		names = append(names, a.Name)
	}
	return append(names, "all/adagrad", "dsg/rate") // other directions
}

// benchSet is a data set in memory.
type benchSet struct {
	name        string
	rows, test  []decode.Row
	task        learner.Task
	schema      *decode.Schema
	rowsAreTime bool // rows are in time order
}

// benchReport is the result for one set.
type benchReport struct {
	Set       string          `json:"set"`
	Task      string          `json:"task"`
	Examples  int             `json:"examples"`
	Inputs    int             `json:"inputs"`
	Targets   int             `json:"targets"`
	Baselines watch.Baselines `json:"baselines"` // progressive
	Results   []benchResult   `json:"results"`
}

type benchResult struct {
	Algorithm   string          `json:"algorithm"`
	Progressive display.Figure  `json:"progressive"`
	Test        *display.Figure `json:"test"` // null for a stream
	Features    int             `json:"features"`
	Seconds     float64         `json:"seconds"`
	PerSecond   float64         `json:"examples_per_second"`
}

func (c *benchCommand) Run(ctx context.Context, e *env) error {
	switch {
	case c.Paper != "":
		return c.paper(ctx, e)
	case c.Dir == "":
		return exit.Usage("missing argument: want a folder of data sets, or --paper")
	}
	sets, err := c.find()
	if err != nil {
		return err
	}
	names := c.Algorithms
	if len(names) == 0 {
		names = contenders()
	}
	var reports []benchReport
	progress := e.progress(false)
	for _, name := range sets {
		set, err := c.read(ctx, e, name)
		if err != nil {
			return err
		}
		r := benchReport{Set: name, Task: set.task.String(), Examples: len(set.rows), Inputs: len(set.schema.Columns), Targets: max(1, len(set.schema.Classes))}
		var curves []curve
		for _, algorithm := range names {
			progress.update(fmt.Sprintf("%s: %s", name, algorithm), nil)
			result, p, cs, err := set.run(ctx, algorithm, c.Precision)
			if err != nil {
				return err
			}
			r.Results = append(r.Results, result)
			r.Baselines = watch.Baselines{Majority: p.Whole.Majority.Error, NoChange: p.Whole.NoChange.Error, Linear: p.Whole.Linear.Error}
			curves = append(curves, cs[0])
			if len(r.Results) == len(names) {
				curves = append(curves, cs[1:]...)
			}
		}
		reports = append(reports, r)
		if c.Plots != "" {
			path := filepath.Join(c.Plots, name+".png")
			if err := picture(path, name, errorName(set.task)+" of the last 1,000 examples", curves); err != nil {
				return err
			}
		}
	}
	progress.done()
	return e.print(c.JSON, c.text(reports), reports)
}

// find returns the sorted names of the sets to run.
func (c *benchCommand) find() ([]string, error) {
	var names []string
	for _, kind := range []string{"train", "stream"} {
		for _, ending := range []string{".csv", ".csv.gz"} {
			files, err := filepath.Glob(filepath.Join(c.Dir, "*."+kind+ending))
			if err != nil {
				return nil, exit.Usage("%w", err)
			}
			for _, f := range files {
				names = append(names, strings.TrimSuffix(filepath.Base(f), "."+kind+ending))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, want := range c.Sets {
		if !slices.Contains(names, want) {
			return nil, exit.Usage("%s has no data set %q", c.Dir, want)
		}
	}
	if len(c.Sets) > 0 {
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(c.Sets, n) })
	}
	if len(names) == 0 {
		return nil, exit.Usage("%s has no NAME.train.csv and no NAME.stream.csv, plain or .gz", c.Dir)
	}
	return names, nil
}

// path returns the file of a set and a kind, and whether it exists.
func (c *benchCommand) path(name, kind string) (string, bool) {
	files, _ := filepath.Glob(filepath.Join(c.Dir, name+"."+kind+".csv*"))
	return append(files, "")[0], len(files) > 0
}

func (c *benchCommand) read(ctx context.Context, e *env, name string) (*benchSet, error) {
	s := &benchSet{name: name}
	path, ok := c.path(name, "train")
	if !ok {
		path, _ = c.path(name, "stream")
		s.rowsAreTime = true
	}
	config := decode.Config{Infer: true, Depth: decode.MaxDepth, Missing: "impute"}
	if c.Label != "" {
		config.Labels = []string{c.Label}
	}
	file, err := openFile(ctx, e, path, config, decode.Schema{})
	if err != nil && c.Label != "" { // the set has another label
		config.Labels = nil
		file, err = openFile(ctx, e, path, config, decode.Schema{})
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if s.rows, err = readAll(file); err != nil {
		return nil, err
	}
	s.task, _ = file.Task()
	s.schema = file.Schema()
	if s.rowsAreTime {
		return s, nil
	}
	rand.New(rand.NewPCG(c.Shuffle, 0)).Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
	if path, ok = c.path(name, "test"); !ok {
		return s, nil
	}
	test, err := openFile(ctx, e, path, decode.Config{Task: s.task, Labels: config.Labels, Infer: true, Depth: decode.MaxDepth, Missing: "impute"}, *s.schema)
	if err != nil {
		return nil, err
	}
	defer test.Close()
	s.test, err = readAll(test)
	return s, err
}

// readAll returns the rows of a file, without their keys.
func readAll(file *decode.File) ([]decode.Row, error) {
	rows, err := readKeyed(file)
	for i := range rows {
		rows[i].Key = nil
	}
	return rows, err
}

func readKeyed(file *decode.File) ([]decode.Row, error) {
	var rows []decode.Row
	for {
		row, err := file.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row.X, row.Key = slices.Clone(row.X), slices.Clone(row.Key)
		rows = append(rows, row)
	}
}

// run streams the set through one algorithm. The first curve is that of the
// algorithm, the others are those of the baselines.
func (s *benchSet) run(ctx context.Context, name string, precision float64) (benchResult, learner.Progress, []curve, error) {
	algorithm, direction, _ := strings.Cut(name, "/")
	options := learner.Config{Algorithm: algorithm, Direction: direction, Task: s.task}
	fit, err := offline.NewFit(options, decode.Config{})
	if err != nil {
		return benchResult{}, learner.Progress{}, nil, exit.Usage("%w", err)
	}
	watch := newCurveRecorder(name, len(s.rows))
	for i, row := range s.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return benchResult{}, learner.Progress{}, nil, ctx.Err()
		}
		fit.Add(row)
		watch.look(fit, i+1)
	}
	p := fit.Finish()
	took := watch.elapsed()
	r := benchResult{
		Algorithm: name, Progressive: display.NewFigure(p.Task, p.Whole.Model.Error, p.Whole.Rows), Features: p.Features,
		Seconds: took.Seconds(), PerSecond: float64(p.Examples) / max(took.Seconds(), 1e-9),
	}
	r.Progressive.Classes = display.NewClasses(fit.Figures(precision), s.schema.Classes)
	if len(s.test) > 0 {
		snapshot, err := fit.Snapshot(s.schema)
		if err != nil {
			return r, p, nil, err
		}
		model, err := learner.NewModel(snapshot.State.Serving)
		if err != nil {
			return r, p, nil, err
		}
		g := offline.NewGrade(model, len(s.schema.Columns))
		for _, row := range s.test {
			g.Add(row)
		}
		f := display.NewFigure(p.Task, g.Error(), g.Rows())
		f.Classes = display.NewClasses(g.Figures(precision), s.schema.Classes)
		r.Test = &f
	}
	return r, p, watch.curves, nil
}

// curveRecorder records the curves of a fit. The measured time excludes its own.
type curveRecorder struct {
	curves []curve
	due    func(int) bool
	start  time.Time
	looked time.Duration
}

func newCurveRecorder(name string, rows int) *curveRecorder {
	return &curveRecorder{
		curves: []curve{{name: name}, {name: "linear"}, {name: "majority"}, {name: "no change"}},
		due:    moments(rows), start: time.Now(),
	}
}

func (w *curveRecorder) elapsed() time.Duration { return time.Since(w.start) - w.looked }

func (w *curveRecorder) look(fit *offline.Fit, rows int) {
	if !w.due(rows) {
		return
	}
	took := w.elapsed()
	p := fit.Progress()
	if p.Latest.Rows > 0 {
		w.curves[0].add(p, p.Latest.Model, took)
		p.Features = 0 // the baselines have none
		for i, s := range []learner.Score{p.Latest.Linear, p.Latest.Majority, p.Latest.NoChange} {
			w.curves[1+i].add(p, s, 0)
		}
	}
	w.looked = time.Since(w.start) - took
}

func errorName(t learner.Task) string {
	switch t {
	case learner.Regression:
		return "nMSE"
	case learner.Novelty:
		return "share of flagged rows"
	}
	return "error"
}

func (c *benchCommand) text(reports []benchReport) string {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteString("\n\n")
		}
		targets := "one value"
		if r.Targets > 1 {
			targets = fmt.Sprintf("%d classes", r.Targets)
		}
		fmt.Fprintf(&b, "%s: %s of %s, %s examples of %d inputs\n", r.Set, r.Task, targets, display.Thousands(int64(r.Examples)), r.Inputs)
		fmt.Fprintf(&b, "%-12s %11s %11s %9s %11s", "", "progressive", "test", "features", "examples/s")
		classes := c.table(r)
		if classes {
			b.WriteString(classHeader(c.Precision))
		}
		row := func(name string, progressive float64) { fmt.Fprintf(&b, "\n%-12s %11.4f", name, progressive) }
		for _, a := range r.Results {
			row(a.Algorithm, a.Progressive.Value())
			test := ""
			if a.Test != nil {
				test = fmt.Sprintf("%.4f", a.Test.Value())
			}
			fmt.Fprintf(&b, " %11s %9s %11s", test, display.Thousands(int64(a.Features)), display.Thousands(int64(a.PerSecond)))
			if classes {
				b.WriteString(classRow(benchFigures(a)))
			}
		}
		row("linear", r.Baselines.Linear)
		row("majority", r.Baselines.Majority)
		row("no change", r.Baselines.NoChange)
	}
	return b.String()
}
