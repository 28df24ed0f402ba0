// Package bench is the command that compares algorithms on a folder of data sets, and runs
// the experiments of papers.
package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/curves"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Command is accrete bench.
type Command struct {
	env.JSONFlag
	env.ProfileFlags
	display.ClassFlags
	Dir        string   `arg:"" optional:"" help:"Folder with NAME.train.csv and NAME.test.csv, or NAME.stream.csv; plain or .gz, or .libsvm, .jsonl, .parquet or .avro."`
	Sets       []string `placeholder:"NAME" help:"Run only these data sets."`
	Label      string   `placeholder:"NAME" help:"Label of the sets that have a column of this name; the others have the one that the folder's sets.csv names, or y or label."`
	Algorithms []string `placeholder:"NAME" help:"Run only these algorithms, for example newton, newton/alone (without the mixture), ridge, all/mixture, all/adagrad or dsg/rate."`
	Efforts    []string `placeholder:"NUMBER" help:"Run newton with these efforts, as newton/effort:8, without the mixture; with --plots also draws their errors against the examples per CPU-second, to effort.svg."`
	Peers      []string `placeholder:"NAME" help:"Also run learners of other projects on the same rows in the same order, in Python and where they are installed: all (arf, amf, vw, vw-quadratic and lightgbm), or some of arf, amf, hoeffding and linear of River, arf-moa of CapyMOA, vw, vw-quadratic and vw-nn of Vowpal Wabbit, rff-sgd of scikit-learn, and lightgbm, in batch. Without --algorithms and --efforts beside newton with three efforts, eigenpro and ridge. See docs/comparison.md for their versions."`
	Python     string   `default:"python3" placeholder:"COMMAND" help:"Python interpreter of --peers (${default})."`
	Preset     []string `enum:"${presets}" placeholder:"NAME" help:"Run these presets of papers, with the other --algorithms that are named: ${enum}."`
	Loss       string   `default:"auto" help:"Loss to minimise, as in fit, by the algorithms that take it, on the sets that have its labels (${default})."`
	Costs      string   `default:"none" placeholder:"none|f1|JSON" help:"Class that is predicted, as in fit, on the sets of classes; a JSON object runs only on sets that have one of the classes that it names (${default})."`
	Balance    string   `default:"none" placeholder:"none|balanced|JSON" help:"Class-balanced sampling, as in fit, on the sets of classes (${default})."`
	HalfLife   string   `name:"half-life" default:"0s" placeholder:"DURATION" help:"Half-life of the weight of a row by its age, as in fit, on the sets that have the column --time (${default})."`
	Time       string   `placeholder:"COLUMN" help:"Column with the event time for --half-life."`
	Shuffle    uint64   `default:"1" help:"Seed for the order of the training rows; streams keep their order (${default})."`
	Orders     int      `default:"1" help:"Number of orders of the training rows, with the seeds from --shuffle on: the means and the standard deviations of their errors are added, and with two classes those of F1 (${default})."`
	Starts     int      `default:"1" help:"Number of starting rows of the streams, 2,000 rows apart, from each of which as many rows are read: means and standard deviations as with --orders (${default})."`
	Rare       float64  `placeholder:"SHARE" help:"Make two classes of each set: one that has this share of the rows, and all others. The rows are drawn again in each of --orders. Of numbers, the class is that of the greatest ones."`
	RareClass  string   `placeholder:"CLASS" help:"Class to make rare (default: the one with the fewest rows)."`
	Intervals  float64  `placeholder:"SHARE" help:"Measure intervals around the predictions, as in fit, on the sets with one number as the label."`
	Variance   bool     `help:"Make intervals wider where little has been learned, as in fit."`
	Plots      string   `placeholder:"DIR" help:"Folder for one plot per data set, NAME.png."`
	Paper      string   `enum:",dsg,cdsg,dspdc" default:"" placeholder:"NAME" help:"Run the experiments of a paper instead: dsg, cdsg or dspdc."`
	Section    string   `enum:",${sections}" default:"" placeholder:"NUMBER" help:"Run only this section of --paper dsg: 3, 7.1, 7.2 or 7.3."`
	Seconds    float64  `default:"2" help:"Processor time that each method of --paper dspdc has for each problem (${default})."`
	Rows       int      `placeholder:"N" help:"Read at most this many rows of each file."`
	Full       bool     `help:"Run all problems of --paper, including those that need a gigabyte of memory or minutes to converge; takes about 15 minutes."`
}

func (Command) Help() string {
	return `Streams every data set of a folder once through every algorithm with default settings, and compares them with three baselines: the most frequent class (or the mean), the last label, and a linear model. The error is the error rate for classification, and the mean squared error divided by the variance of the labels (nMSE) for regression. With --loss quantile:0.9 there are also columns for the pinball loss and the share of the labels below the prediction, with huber and absolute one for the mean absolute error, on the test rows or those of a stream.

The label of a set is the column y or label, or the one that the file sets.csv in the folder names, in lines SET,LABEL below the header set,label. Sets in Parquet, Avro or JSON lines need the latter, or --label, and their first label decides the task: numbers are not classes. A set that cannot be read is skipped with a warning, and the exit code is 1 after the results of the others.

--paper dsg runs the experiments of Dai et al. (2014): novelty detection and density ratios (section 3), the rate of convergence, the posterior of a Gaussian process, and a support vector machine beside NORMA, Pegasos, SDCA, SBMD, RBCD and, if svm-train is installed, LIBSVM on the classes of the folder's sets. --paper cdsg compares DSG with the rules of Li and Póczos (2016), by training loss over features and time, and by training error in the time of LIBSVM. Both skip sets that they cannot use, such as those with columns that are not numbers.

The papers' large sets are run from files of LIBSVM's collection, with the papers' mini-batches and blocks: ` + strings.Join(presetNames(), ", ") + `. The message about a missing one says which files to download. --rows bounds the memory.

--paper dspdc compares the primal-dual coordinate method of Yu, Lin and Yang (2015) with SPDC, SDCA and SVRG by duality gap, on the problems of the paper's section 6. It also compares metrics learned for related tasks with a single metric and with none, on synthetic tasks and, if the folder contains the data set letter, on its letters.`
}

func (Command) Examples() string {
	return `
accrete bench testdata --plots pictures
accrete bench data --sets letter,kin40k --peers all
accrete bench testdata --sets kin40k --loss quantile:0.9
accrete bench testdata --sets kin40k,flights --algorithms newton --intervals 0.9 --orders 3
accrete bench testdata --sets spam --costs '{"1": 5}'
accrete bench testdata --sets letter,elec --algorithms newton --rare 0.02 --costs f1 --orders 5
accrete bench testdata --sets spam --algorithms newton --preset dsg-paper,cdsg-paper
accrete bench testdata --paper dsg --plots pictures
accrete bench testdata --sets spam,letter --paper dsg --section 3
accrete bench downloads --sets epsilon --rows 100000 --paper cdsg --full
accrete bench --paper dspdc --plots pictures
accrete bench data --paper dspdc --full --plots pictures
accrete bench data --sets letter,elec --algorithms newton,ridge --json`
}

// runs returns the algorithms and presets to run on a set: those that were named, or else
// besidePeers with --peers, or else all that take the loss.
func (c *Command) runs(s *set) ([]string, error) {
	l, err := loss.Parse(c.Loss)
	switch {
	case c.Loss == "auto":
	case err != nil:
		return nil, exit.Usage("--loss: %w", err)
	case l.Classifies() != (s.task == learner.Classification):
		return nil, fmt.Errorf("%w: loss %v is not for %v", errUnfit, l, s.task)
	}
	if err := c.priced(s); err != nil {
		return nil, err
	}
	if c.Balance != "none" && s.task != learner.Classification {
		return nil, fmt.Errorf("%w: --balance is for classification, not for %v", errUnfit, s.task)
	}
	if (c.Intervals != 0 || c.Variance) && s.task != learner.Regression {
		return nil, fmt.Errorf("%w: --intervals and --variance are for regression, not for %s", errUnfit, s.task)
	}
	names := slices.Concat(c.Algorithms, c.Preset)
	for _, effort := range c.Efforts {
		names = append(names, withEffort(effort))
	}
	if len(names) > 0 {
		return names, nil
	}
	if len(c.Peers) > 0 {
		return besidePeers, nil
	}
	return slices.DeleteFunc(contenders(c.options("", s.task)), func(name string) bool {
		_, err := c.options(name, s.task).Effective()
		return err != nil
	}), nil
}

// priced returns an error that wraps errUnfit if --costs has nothing to do with the classes
// of s.
func (c *Command) priced(s *set) error {
	if c.Costs == "none" {
		return nil
	}
	if s.task != learner.Classification {
		return fmt.Errorf("%w: --costs is for classification, not for %v", errUnfit, s.task)
	}
	names := learner.Config{Costs: c.Costs}.NamedCosts()
	if names != nil && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(s.schema.Classes, name) }) {
		return fmt.Errorf("%w: it has none of the classes of --costs, which are %s", errUnfit, strings.Join(names, ", "))
	}
	return nil
}

// options returns the configuration of a preset, or of an algorithm in the notation of contenders.
func (c *Command) options(name string, task learner.Task) learner.Config {
	halfLife, _ := config.ParseHalfLife(c.HalfLife) // weighingError has checked it
	of := learner.Config{Task: task, Loss: c.Loss, Costs: c.Costs, Balance: c.Balance, HalfLife: halfLife, Intervals: c.Intervals, Variance: c.Variance, NormalScores: true, Warmup: learner.NewestWarmup, Discard: true}
	if p, err := learner.ParsePreset(name); err == nil {
		return p.Over(of)
	}
	of.Algorithm, of.Direction, _ = strings.Cut(name, "/")
	if effort, ok := strings.CutPrefix(of.Direction, effortOf); ok {
		of.Direction = ""
		of.Effort, _ = learner.ParseEffort(effort)
		return of
	}
	switch of.Direction {
	case mixture:
		of.Direction, of.Mixture = "", true
	case alone:
		of.Direction = ""
	default:
		of.Mixture = of.SuitsMixture()
		of, _ = of.WithForest("auto", false) // auto is a valid name
	}
	return of
}

// Suffixes to the name of an algorithm: mixture asks for the mixture with simple members. alone,
// and effortOf with an effort after it, exclude that mixture even where it is the default.
const (
	effortOf = "effort:"
	mixture  = "mixture"
	alone    = "alone"
)

// contenders returns the algorithms that bench compares for a loss, each as name,
// name/direction or name/alone.
func contenders(of learner.Config) (names []string) {
	for _, a := range learner.Algorithms() {
		names = append(names, a.Name)
	}
	if of.SuitsMixture() {
		names = append(names, names[0]+"/"+alone)
	}
	return append(names, "all/adagrad", "dsg/rate") // algorithms with another direction than their default
}

// Files returns the files that are read and written. The pictures of --plots are left out: no data
// set has such a name.
func (c *Command) Files() env.Files {
	f := env.Files{Outputs: c.ProfileFlags.Outputs()}
	if paths, err := filepath.Glob(filepath.Join(c.Dir, "*")); err == nil && c.Dir != "" {
		for _, path := range paths {
			f.Inputs = append(f.Inputs, env.Named{Name: "a file of the folder", Path: path})
		}
	}
	return f
}

func (c *Command) Run(ctx context.Context, e *env.Env) error {
	switch {
	case c.Orders < 1 || c.Orders > 100:
		return exit.Usage("--orders is %d: want 1 to 100", c.Orders)
	case c.Starts < 1 || c.Starts > 100:
		return exit.Usage("--starts is %d: want 1 to 100", c.Starts)
	case c.rareError() != nil:
		return c.rareError()
	case c.Section != "" && c.Paper != "dsg":
		return exit.Usage("--section %s: it is for --paper dsg", c.Section)
	case c.Rows < 0:
		return exit.Usage("--rows is %d: want 1 or more", c.Rows)
	case c.Paper != "":
		return c.paper(ctx, e)
	case c.weighingError() != nil:
		return c.weighingError()
	case c.Costs != "none" && c.costsError() != nil:
		return exit.Usage("--costs: %w", c.costsError())
	case c.intervalsError() != nil:
		return exit.Flag("intervals", c.intervalsError())
	case c.algorithmsError() != nil:
		return c.algorithmsError()
	case c.effortsError() != nil:
		return c.effortsError()
	case c.peersError() != nil:
		return c.peersError()
	case c.Dir == "":
		return exit.Usage("missing argument: want a folder of data sets, or --paper")
	}
	var reports []report
	progress, start := e.Progress(false), time.Now()
	unread, err := c.each(ctx, e, func(s *set) error {
		r, err := c.compare(ctx, s, func(algorithm string) {
			left := display.Left(time.Since(start), float64(s.at)/float64(s.of))
			progress.Update(fmt.Sprintf("%s: %s, data set %d of %d%s", s.name, algorithm, s.at+1, s.of, left), nil)
		})
		if err == nil && len(c.Peers) > 0 {
			progress.Update(s.name+": peers", nil)
			var first *set
			if first, err = c.ordered(s, 0); err == nil {
				r.Peers, err = c.runPeers(ctx, e, first)
			}
		}
		if err != nil {
			return err
		}
		reports = append(reports, r)
		if c.JSON {
			return e.Print(true, "", r) // the sets before an interrupt count
		}
		return nil
	})
	if err != nil {
		return err
	}
	progress.Done()
	if c.Plots != "" && len(c.Efforts) > 0 {
		if err := c.drawEfforts(reports); err != nil {
			return err
		}
	}
	if !c.JSON {
		if err := e.Print(false, c.text(reports), nil); err != nil {
			return err
		}
	}
	return incomplete(unread)
}

// algorithmsError returns an error if --algorithms has a name of no algorithm, before any of them
// runs.
func (c *Command) algorithmsError() error {
	for _, name := range c.Algorithms {
		algorithm, direction, _ := strings.Cut(name, "/")
		known := slices.ContainsFunc(learner.Algorithms(), func(a learner.Algorithm) bool { return a.Name == algorithm })
		if _, err := learner.ParsePreset(name); !known && err != nil {
			var names []string
			for _, a := range learner.Algorithms() {
				names = append(names, a.Name)
			}
			return exit.Usage("--algorithms %s: there is no algorithm %q: want %s", name, algorithm, strings.Join(names, ", "))
		}
		suffixes := append([]string{"", mixture, alone}, learner.Directions()...)
		if known && !slices.Contains(suffixes, direction) && !strings.HasPrefix(direction, effortOf) {
			return exit.Usage("--algorithms %s: there is no %q: want %s, %s, %sNUMBER or a direction: %s", name, direction, mixture, alone, effortOf, strings.Join(learner.Directions(), ", "))
		}
	}
	return nil
}

func (c *Command) costsError() error {
	_, err := learner.Config{Task: learner.Classification, Costs: c.Costs}.Effective()
	return err
}

func (c *Command) intervalsError() error {
	_, err := learner.Config{Task: learner.Regression, Intervals: c.Intervals}.Effective()
	return err
}

// compare runs the algorithms on a set, and draws their curves with --plots. It calls began before
// each algorithm.
func (c *Command) compare(ctx context.Context, s *set, began func(algorithm string)) (report, error) {
	first, err := c.ordered(s, 0)
	if err != nil {
		return report{}, err
	}
	r := report{Set: s.name, Task: first.task.String(), Examples: len(first.rows), Inputs: len(s.schema.Columns), Targets: max(1, len(first.schema.Classes))}
	names, err := c.runs(first)
	if err != nil {
		return r, err
	}
	var drawn, baselines []curves.Curve
	for _, algorithm := range names {
		began(algorithm)
		result, p, cs, err := c.everyOrder(ctx, s, algorithm, c.options(algorithm, first.task))
		if err != nil {
			return r, err
		}
		r.Results = append(r.Results, result)
		r.Baselines = watch.Baselines{Majority: p.Whole.Majority.Error, NoChange: p.Whole.NoChange.Error, Linear: p.Whole.Linear.Error}
		drawn, baselines = append(drawn, cs[0]), cs[1:]
	}
	if c.Plots == "" {
		return r, nil
	}
	path := filepath.Join(c.Plots, s.name+".png")
	return r, curves.Draw(path, s.name, first.task, append(drawn, baselines...))
}
