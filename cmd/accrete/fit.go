package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
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
	"github.com/accrete-ml/accrete/snapshot"
)

type fitCommand struct {
	jsonFlag
	inputFlags
	classFlags
	Train       string   `arg:"" help:"Training file: CSV with a header, LIBSVM, or JSON lines; plain or .gz; - for standard input."`
	Test        string   `placeholder:"FILE" help:"File to test the final model on."`
	Label       []string `placeholder:"COLUMN,..." help:"Label column (default: y or label). Several columns make one regression with several targets."`
	Task        string   `enum:"auto,classification,regression,novelty" default:"auto" help:"classification, regression, novelty of rows without labels, or auto to decide by the first 1,000 labels (${default}). With novelty, a label of 1 or true marks a novelty, and only grades the scores."`
	Nu          float64  `default:"0.05" help:"Share of the rows that --task novelty flags (${default})."`
	Weight      string   `placeholder:"COLUMN" help:"Column with the weight of each row."`
	Algorithm   string   `enum:"${algorithms}" default:"${algorithm}" help:"Learning algorithm: ${enum} (${default})."`
	Direction   string   `enum:"auto,${directions}" default:"auto" help:"Direction of the steps of dsg, udsg, cdsg and all: ${enum} (${default})."`
	Loss        string   `default:"auto" help:"Loss to minimise: logistic, hinge, squared-hinge, smoothed-hinge or one-vs-rest for classes; square, huber:1, absolute:0.1, quantile:0.9 or poisson for numbers (${default})."`
	OnDrift     string   `name:"on-drift" enum:"${reactions}" default:"none" help:"Reaction to detected drift: ${enum} (${default})."`
	Intervals   float64  `placeholder:"SHARE" help:"Share of the labels of a regression that the interval of their prediction is to contain, from 0.5 to 0.999."`
	Costs       string   `default:"none" placeholder:"none|f1|JSON" help:"Class that is predicted. none: the most probable. f1: the rarer of two from the probability on that maximises its F1 over the recent predictions. JSON, such as {\"fraud\": 50} or {\"fraud\": {\"ok\": 50}}: the one with the least expected cost, where a wrong prediction costs 1 or as much as given (${default})."`
	Lags        int      `default:"0" help:"Number of lagged rows (per --key) to add as inputs (${default})."`
	Key         string   `placeholder:"COLUMN" help:"Grouping column for --lags and --metric, for example the tenant."`
	Kernel      string   `default:"gaussian" help:"Kernel: auto for the one that suits the first 1,000 rows, gaussian, laplacian, cauchy, matern:NU, rational-quadratic:ALPHA, hierarchical:WIDTH, sums and products of these such as gaussian+laplacian, arc-cosine:ORDER, polynomial:DEGREE, dot-product:RATIO, or, for inputs of 0 or more, chi2, intersection, jensen-shannon, hellinger, exponential-semigroup, reciprocal-semigroup, or, for inputs above -C, skewed-chi2:C or skewed-intersection:C (${default}). The warm-up chooses its scale unless it is given last, as in gaussian:2.5."`
	Metric      string   `placeholder:"FILE" help:"Metric file from accrete metric, used instead of the column weights of the warm-up: the metric of the row's --key, or else the shared one."`
	Sampling    string   `enum:"${samplings}" default:"iid" help:"Sampling of the frequencies: ${enum} (${default}); sorf and fastfood need 64 inputs or more, and these and qmc not every kernel."`
	MaxFeatures int      `name:"max-features" default:"4096" help:"Maximum number of random features (${default})."`
	BlockSize   int      `name:"block-size" default:"0" help:"Random features in a block; 0 selects the default of the algorithm."`
	Minibatch   int      `default:"0" help:"Rows per step; 0 selects the default of the algorithm, 32 for newton and ridge, 1,024 for dsg, udsg and cdsg, and 128 for the others."`
	stepFlags
	Forest      int     `default:"0" help:"Number of randomised trees whose leaves are features of newton beside the random ones, for example 200 (${default})."`
	Lambda      float64 `default:"0" help:"Regularisation: weight of half the squared norm beside the mean loss; 0: for dsg, udsg and cdsg the warm-up chooses it, for others 1e-6."`
	Seed        uint64  `default:"1" help:"Seed of all random numbers (${default})."`
	Shuffle     *uint64 `placeholder:"SEED" help:"Read the whole file into memory and shuffle its rows with this seed."`
	SkipBad     bool    `name:"skip-bad" help:"Count unreadable rows and continue, instead of stopping at the first."`
	Refit       bool    `help:"Finally solve for the coefficients on the last rows, and certify the solution."`
	Window      int     `default:"8192" help:"Number of rows for --refit (${default})."`
	Tolerance   float64 `default:"1e-3" help:"Duality gap at which --refit stops, relative to the objective of the zero model (${default})."`
	Penalty     float64 `help:"Regularisation of --refit (default: chosen by leave-one-out on the last 512 rows)."`
	Plot        string  `placeholder:"FILE" help:"Plot the error over time to this PNG file."`
	Predictions string  `placeholder:"FILE" help:"Write the rows with their progressive predictions, each made before the row was learned, in the format of the training file."`
	Save        string  `placeholder:"FILE" help:"Save the final model as a snapshot file."`
}

func (fitCommand) Help() string {
	return `Streams a file once through the learner, without Kafka: each row is predicted, then learned. The progressive error is that of these predictions; the test error is that of the final model on the test file. The error is the error rate for classification, and the mean squared error divided by the variance of the labels (nMSE) for regression, averaged over several targets. For novelty it is the share of flagged rows, which --nu determines.`
}

func (fitCommand) Examples() string {
	return `
accrete fit train.csv.gz --test test.csv.gz
accrete fit data.libsvm --task classification --json
accrete fit train.csv.gz --algorithm all --refit --test test.csv.gz
accrete fit arm.csv --label x,y,z --test other.csv --json
accrete fit logs.csv --task novelty --nu 0.01
zcat big.csv.gz | accrete fit - --label price`
}

// noveltyClasses name what is known of the rows of task novelty.
var noveltyClasses = []string{"normal", "novel"}

// fitReport is the result of a fit.
type fitReport struct {
	Task        string           `json:"task"`
	Examples    int64            `json:"examples"`
	Inputs      int              `json:"inputs"`
	Targets     int              `json:"targets"`
	Algorithm   string           `json:"algorithm"`
	Kernel      string           `json:"kernel"` // with its scale; "" before the first fit of the warm-up
	Progressive display.Figure   `json:"progressive"`
	Baselines   *watch.Baselines `json:"baselines"`           // progressive errors, too
	Test        *display.Figure  `json:"test"`                // null without --test
	Intervals   []intervalReport `json:"intervals,omitempty"` // of each target, with --intervals
	Features    int              `json:"features"`
	Drifts      drifts           `json:"drifts"`  // number of alarms of each detector
	Seconds     float64          `json:"seconds"` // time spent learning
	PerSecond   float64          `json:"examples_per_second"`
	Skipped     int64            `json:"skipped"` // rows that could not be read
	StateHash   snapshot.Hash    `json:"state_hash"`
	Refit       *refitReport     `json:"refit,omitempty"`

	Columns []columnReport `json:"columns,omitempty"` // unless all are numbers without missing values, none like an identifier
	columns columnTally
}

type intervalReport struct {
	Coverage float64 `json:"coverage"` // share of the labels in the interval of their progressive prediction
	Width    float64 `json:"width"`    // mean, in the label's units
}

type drifts struct {
	ADWIN       int64 `json:"adwin"`
	PageHinkley int64 `json:"page_hinkley"`
}

func (f *fitCommand) Run(ctx context.Context, e *env) error {
	options, err := f.options(e)
	if err != nil {
		return err
	}
	if err := f.foresee(); err != nil {
		return err
	}
	c := f.decode(options.Task)
	file, err := openFile(ctx, e, f.Train, c, decode.Schema{})
	if err != nil {
		return err
	}
	defer file.Close()
	run, err := offline.NewFit(options, c)
	if err != nil {
		return exit.Usage("%w", err)
	}
	run.Classes = func() []string { return file.Schema().Classes }
	r := fitReport{Algorithm: f.Algorithm}
	curve := newCurveRecorder(f.Algorithm, 0)
	var recent window
	start := time.Now()
	out, err := f.progressive(file, run)
	if err != nil {
		return err
	}
	defer out.close()
	if err := f.learn(ctx, e, file, run, options, curve, &recent, out, &r); err != nil {
		return err
	}
	p := run.Finish()
	if err := out.finish(); err != nil {
		return fmt.Errorf("--predictions: %w", err)
	}
	schema := file.Schema()
	if p.Examples == 0 {
		return fmt.Errorf("%s has no labelled row, so nothing was learned", f.Train)
	}
	taken, why := file.Task()
	r.fill(p, schema, len(f.Label), time.Since(start))
	names := schema.Classes
	if p.Task == learner.Novelty {
		names, r.Algorithm, r.Baselines = noveltyClasses, options.Algorithm, nil
	}
	r.Progressive.Classes = display.NewClasses(run.Figures(f.Precision), names)
	r.Columns = r.columns.report(schema, run.Columns())
	if taken == learner.Classification && len(schema.Classes) < 2 {
		e.log.Warn().Strs("classes", schema.Classes).Msg("all labels are equal, so there is nothing to learn")
	}
	warnOfCosts(e, options, schema.Classes)
	s, err := run.Snapshot(schema)
	if err != nil {
		return err
	}
	r.StateHash = snapshot.StateHash(s.Schema, s.State)
	if err := f.write(p.Task, curve, s); err != nil {
		return err
	}
	if f.Test != "" {
		c.Task = taken
		model, err := learner.NewModel(s.State.Serving)
		if err != nil {
			return err
		}
		if r.Test, err = f.test(ctx, e, c, model, schema, &r); err != nil {
			return err
		}
	}
	if f.Refit {
		if err := f.refit(ctx, e, c, s, schema, &recent, &r); err != nil {
			return err
		}
	}
	text := f.text(r, taken, why)
	if f.Print {
		text += "\n" + strings.TrimSuffix(r.columns.declaration(schema, c.Types), "\n")
	}
	return e.print(f.JSON, text, r)
}

// warnOfCosts names the classes in --costs that no row has.
func warnOfCosts(e *env, options learner.Config, classes []string) {
	for _, name := range options.NamedCosts() {
		if !slices.Contains(classes, name) {
			e.log.Warn().Str("class", name).Strs("classes", classes).Msg("--costs names a class that no row has")
		}
	}
}

// options returns the learner.Config that the flags describe.
func (f *fitCommand) options(e *env) (learner.Config, error) {
	task, err := learner.ParseTask(f.Task)
	if err != nil {
		return learner.Config{}, err
	}
	metric, err := f.metric(e)
	if err != nil {
		return learner.Config{}, err
	}
	nu := 0.0
	if task == learner.Novelty {
		nu = f.Nu
	}
	options, err := learner.Config{
		Nu: nu, Algorithm: f.Algorithm, Direction: f.Direction, Loss: f.Loss, Kernel: f.Kernel, Metric: metric, Sampling: f.Sampling, Task: task, MaxFeatures: f.MaxFeatures,
		BlockSize: f.BlockSize, Minibatch: f.Minibatch, Lambda: f.Lambda, Steps: f.steps(), Lags: f.Lags, Costs: f.Costs, Intervals: f.Intervals, OnDrift: f.OnDrift, Seed: f.Seed, Forest: f.Forest, Targets: len(f.Label),
	}.Effective()
	switch {
	case err != nil:
		return options, exit.Usage("%w", err)
	case f.Refit && task == learner.Novelty:
		return options, exit.Usage("--refit fits coefficients to labels, which --task novelty does not have")
	case f.Lags > 0 && f.Test != "":
		return options, exit.Usage("a model with lags can only be evaluated on the rows that it learns: omit --test")
	case f.Refit && (f.Window < 2 || !(f.Tolerance > 0) || !(f.Penalty >= 0)):
		return options, exit.Usage("--window %d, --tolerance %v, --penalty %v: want 2 rows or more, a tolerance above 0 and a penalty of 0 or more", f.Window, f.Tolerance, f.Penalty)
	}
	return options, nil
}

// learn streams file through run once, and keeps what --plot and --refit need.
func (f *fitCommand) learn(ctx context.Context, e *env, file *decode.File, run *offline.Fit, options learner.Config, curve *curveRecorder, recent *window, out *progressive, r *fitReport) error {
	next := file.Next
	if f.Shuffle != nil {
		next = shuffled(file.Next, *f.Shuffle)
	}
	progress, start, last, rows := e.progress(false), time.Now(), time.Now(), 0
	defer progress.done()
	for {
		row, err := next()
		if err == io.EOF {
			return nil
		}
		if err := f.bad(e, err, r); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		if rows == 0 {
			if err := options.Check(file.Schema().Columns); err != nil {
				return err
			}
		}
		r.columns.add(row.X)
		out.add(file)
		run.Add(row)
		if f.Refit {
			recent.add(row, f.Window)
		}
		rows++
		if f.Plot != "" {
			curve.look(run, rows)
		}
		if time.Since(last) > time.Second {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			last = time.Now()
			progress.update(f.progress(run.Progress(), time.Since(start)), nil)
		}
	}
}

// fill sets the fields that are known once all rows are learned.
func (r *fitReport) fill(p learner.Progress, schema *decode.Schema, labels int, took time.Duration) {
	r.Seconds = took.Seconds()
	r.PerSecond = float64(p.Examples) / max(r.Seconds, 1e-9)
	r.Task, r.Examples, r.Inputs, r.Targets, r.Features, r.Kernel = p.Task.String(), p.Examples, len(schema.Columns), max(1, len(schema.Classes), labels), p.Features, p.Kernel
	r.Drifts = drifts(p.Drifts)
	for _, s := range p.Intervals {
		r.Intervals = append(r.Intervals, intervalReport(s))
	}
	r.Progressive = display.Progressive(p.Task, p.Whole)
	r.Baselines = &watch.Baselines{Majority: p.Whole.Majority.Error, NoChange: p.Whole.NoChange.Error, Linear: p.Whole.Linear.Error}
}

// write writes the files that --plot and --save name.
func (f *fitCommand) write(task learner.Task, curve *curveRecorder, s *snapshot.Snapshot) error {
	if f.Plot != "" {
		if err := picture(f.Plot, filepath.Base(f.Train), errorName(task)+" of the last 1,000 examples", curve.curves); err != nil {
			return err
		}
	}
	if f.Save == "" {
		return nil
	}
	s.Info = snapshot.Info{Writer: "accrete " + versionString(), Time: time.Now().UnixMilli()}
	file, err := snapshot.Append(nil, s)
	if err != nil {
		return err
	}
	return snapshot.WriteFile(f.Save, file)
}

// metric returns the metric of --metric, or nil.
func (f *fitCommand) metric(e *env) (*learner.Metric, error) {
	if f.Metric == "" {
		return nil, nil
	}
	m, err := readMetric(f.Metric)
	if err != nil {
		return nil, exit.Refuse(fmt.Errorf("--metric: %w", err))
	}
	if m.Keys() > 0 && f.Key == "" {
		e.log.Warn().Int("keys", m.Keys()).Msg("the file has a metric for each key, but without --key all rows use the shared one")
	}
	return m, nil
}

// shuffled returns a function that yields the results of next, including
// errors, in an order drawn from seed; io.EOF stays last.
func shuffled(next func() (decode.Row, error), seed uint64) func() (decode.Row, error) {
	type result struct {
		row decode.Row
		err error
	}
	var all []result
	at := -1
	return func() (decode.Row, error) {
		for at < 0 {
			row, err := next()
			row.X, row.Key, row.Label.More = slices.Clone(row.X), slices.Clone(row.Key), slices.Clone(row.Label.More)
			var line *decode.LineError
			if err != nil && !errors.As(err, &line) {
				rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				at = 0
			}
			all = append(all, result{row, err})
		}
		r := all[min(at, len(all)-1)]
		at++
		return r.row, r.err
	}
}

// bad handles a row that cannot be read: it returns the error, or counts the
// row as skipped.
func (f *fitCommand) bad(e *env, err error, r *fitReport) error {
	var line *decode.LineError
	if err == nil || f.SkipBad && errors.As(err, &line) {
		if err != nil {
			if r.Skipped++; r.Skipped <= 3 {
				e.log.Warn().Err(err).Msg("skipped")
			}
		}
		return nil
	}
	if errors.As(err, &line) {
		return fmt.Errorf("%w (correct the file, or skip such rows with --skip-bad)", err)
	}
	return err
}

// openFile opens a file of rows, or standard input for "-". Its errors say what
// to do.
func openFile(ctx context.Context, e *env, path string, c decode.Config, s decode.Schema) (file *decode.File, err error) {
	if path == "-" {
		file, err = decode.Read(interruptible(ctx, e.stdin), "standard input", c, s)
	} else {
		file, err = decode.Open(path, c, s)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noFile(path)
	case err != nil && ctx.Err() == nil:
		return nil, exit.Usage("%w", err)
	}
	return file, err
}

// interruptible returns a reader that fails once ctx is done, even while a Read
// of r blocks.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}

func noFile(path string) error {
	wd, _ := os.Getwd()
	return exit.Usage("no such file: %s (working directory: %s)", path, wd)
}

// test computes the error of a model on other rows.
func (f *fitCommand) test(ctx context.Context, e *env, c decode.Config, model *learner.Model, schema *decode.Schema, r *fitReport) (*display.Figure, error) {
	file, err := openFile(ctx, e, f.Test, c, *schema)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	g := offline.NewGrade(model, len(schema.Columns))
	g.Classes = schema.Classes
	for ctx.Err() == nil {
		row, err := file.Next()
		if err == io.EOF {
			if g.Rows() == 0 {
				return nil, fmt.Errorf("%s has no labelled row, so nothing was tested", f.Test)
			}
			fig := display.NewFigure(g.Task(), g.Error(), g.Rows())
			if each := g.Errors(); len(each) > 1 {
				fig.Each = each
			}
			names := schema.Classes
			if g.Task() == learner.Novelty {
				names = noveltyClasses
			}
			fig.Classes = display.NewClasses(g.Figures(f.Precision), names)
			return &fig, nil
		}
		if err := f.bad(e, err, r); err != nil {
			return nil, err
		}
		if err == nil {
			g.Add(row)
		}
	}
	return nil, ctx.Err()
}

func (f *fitCommand) progress(p learner.Progress, took time.Duration) string {
	return fmt.Sprintf("%s examples, %s/s, progressive %v", display.Thousands(p.Examples), display.Thousands(int64(float64(p.Examples)/took.Seconds())), display.NewFigure(p.Task, p.Whole.Model.Error, p.Whole.Rows))
}

func (f *fitCommand) text(r fitReport, task learner.Task, why string) string {
	var b strings.Builder
	targets := "one value"
	switch {
	case task == learner.Classification:
		targets = display.Count(int64(r.Targets), "class")
	case r.Targets > 1:
		targets = display.Count(int64(r.Targets), "value")
	}
	if task == learner.Novelty {
		fmt.Fprintf(&b, "novelty in %s (%s)\n", display.Count(int64(r.Inputs), "input"), why)
	} else {
		fmt.Fprintf(&b, "%v of %s from %s (%s)\n", task, targets, display.Count(int64(r.Inputs), "input"), why)
	}
	b.WriteString(columnsText(r.Columns))
	fmt.Fprintf(&b, "progressive  %v  over %s\n", r.Progressive, display.Count(r.Progressive.Examples, "example"))
	if r.Baselines != nil {
		fmt.Fprintf(&b, "             linear %.4f, majority %.4f, no change %.4f\n", r.Baselines.Linear, r.Baselines.Majority, r.Baselines.NoChange)
	}
	if r.Test != nil {
		fmt.Fprintf(&b, "test         %v  over %s\n", *r.Test, display.Count(r.Test.Examples, "example"))
	}
	for _, s := range r.Intervals {
		fmt.Fprintf(&b, "intervals    contain %.4f of the labels, mean width %.4g\n", s.Coverage, s.Width)
	}
	b.WriteString(f.classFlags.text(r))
	if r.Refit != nil {
		b.WriteString(r.Refit.String())
	}
	if n := r.Drifts.ADWIN + r.Drifts.PageHinkley; n > 0 {
		fmt.Fprintf(&b, "drift        detected %d times by ADWIN, %d times by Page-Hinkley\n", r.Drifts.ADWIN, r.Drifts.PageHinkley)
	}
	if f.Kernel == "auto" && r.Kernel != "" {
		fmt.Fprintf(&b, "kernel       %s, chosen by the warm-up\n", r.Kernel)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "skipped      %s (unreadable)\n", display.Count(r.Skipped, "row"))
	}
	fmt.Fprintf(&b, "%s, %s features, %.2f s, %s examples/s", r.Algorithm, display.Thousands(int64(r.Features)), r.Seconds, display.Thousands(int64(r.PerSecond)))
	return b.String()
}
