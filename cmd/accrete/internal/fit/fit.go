// Package fit is the command that streams a file through a learner, without Kafka.
package fit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/curves"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Command is accrete fit.
type Command struct {
	env.JSONFlag
	env.ProfileFlags
	inputFlags
	display.ClassFlags
	Train       string   `arg:"" help:"Training file: CSV with a header, LIBSVM, Vowpal Wabbit, .npy, JSON lines, plain or .gz, Parquet or Avro; - for standard input."`
	Test        string   `placeholder:"FILE" help:"File to test the final model on."`
	Label       []string `placeholder:"COLUMN,..." help:"Label column (default: y or label; of Parquet and Avro, and of JSON lines without an object features or a list x, there is no default). Several columns make one regression with several targets."`
	Task        string   `enum:"auto,classification,regression,novelty" default:"auto" help:"classification, regression, novelty of rows without labels, or auto to decide by the first 1,000 labels: text, up to 10 different whole numbers, or up to 32 that leave out few from 0 or 1 on, are classes (${default}); of JSON lines, Parquet and Avro the first label alone decides, and a number is no class. With novelty, a label of 1 or true marks a novelty, and only grades the scores."`
	Nu          float64  `default:"0.05" help:"Share of the rows that --task novelty flags (${default})."`
	MaxClasses  int      `name:"max-classes" default:"256" help:"Maximum number of classes, from 2 to 65536; rows with further labels are unreadable (${default})."`
	Weight      string   `placeholder:"COLUMN" help:"Column with the weight of each row in what is learned and in the progressive figures; every row of --test counts 1."`
	Preset      string   `enum:"none,${presets}" default:"none" help:"Options of a paper, for all of these that are not given themselves: algorithm, direction, steps, block size, mini-batch, maximum number of features and lambda: ${enum} (${default}). Another --algorithm than that of the preset is refused."`
	Algorithm   string   `enum:"${algorithms}" default:"${algorithm}" help:"Learning algorithm: ${enum} (${default})."`
	Direction   string   `enum:"auto,${directions}" default:"auto" help:"Direction of the steps of dsg, udsg, cdsg and all: ${enum} (${default})."`
	Loss        string   `default:"auto" help:"Loss to minimise: logistic, hinge, squared-hinge, smoothed-hinge or one-vs-rest for classes; square, huber:1, absolute:0.1, quantile:0.9, quantile:0.1,0.5,0.9 or poisson for numbers (${default})."`
	OnDrift     string   `name:"on-drift" enum:"${reactions}" default:"none" help:"Reaction to detected drift: ${enum} (${default})."`
	Mixture     string   `enum:"auto,on,off" default:"auto" help:"on: mix the algorithm with linear models that forget, smaller machines that follow changes and predictions from the last labels, by weights that follow their losses row by row (docs/mixture.md). auto: on for newton with the losses logistic, softmax and square and an effort of 32 or more, or with --sparse, otherwise off (${default})."`
	Intervals   float64  `placeholder:"SHARE" help:"Share of the labels of a regression that the interval of their prediction is to contain, from 0.5 to 0.999."`
	Variance    bool     `help:"Estimate the variance of the label around each prediction of a regression; intervals are wider where little has been learned."`
	Monitor     int      `default:"500" help:"Compares the inputs of every N rows with those of a reference of 4 × N rows; N is at least 250. 0: no monitor (${default})."`
	Costs       string   `default:"none" placeholder:"none|f1|JSON" help:"Class that is predicted. none: the most probable. f1: the rarer of two from the probability on that maximises its F1 over the recent predictions. JSON, such as {\"fraud\": 50} or {\"fraud\": {\"ok\": 50}}: the one with the least expected cost, where a wrong prediction costs 1 or as much as given (${default})."`
	Balance     string   `default:"none" placeholder:"none|balanced|JSON" help:"Class-balanced sampling. balanced: learn as many rows of each class as of the rarest, but at least one in 100. JSON, such as {\"fraud\": 1, \"ok\": 3}: in these proportions. A row that is learned counts for as many as it stands for, and all are predicted and graded (${default})."`
	HalfLife    string   `name:"half-life" default:"0s" placeholder:"DURATION" help:"Half-life of the weight of a row by its age, such as 30d, needs --time: rows that are older than the latest time before them count less. 0s: they do not (${default})."`
	Time        string   `placeholder:"COLUMN" help:"Column with the event time for --half-life: a time, or seconds since 1970. Declare it as an id in --columns if it is not to be an input."`
	Lags        int      `default:"0" help:"Number of lagged rows (per --key) to add as inputs (${default})."`
	Key         string   `placeholder:"COLUMN" help:"Grouping column for --lags, --metric and the last labels of a mixture, for example the tenant."`
	Kernel      string   `default:"gaussian" help:"Kernel: auto for the one that suits the first 1,000 rows, gaussian, laplacian, cauchy, matern:NU, rational-quadratic:ALPHA, hierarchical:WIDTH, sums and products of these such as gaussian+laplacian, arc-cosine:ORDER, polynomial:DEGREE, dot-product:RATIO, or, for inputs of 0 or more, chi2, intersection, jensen-shannon, hellinger, exponential-semigroup, reciprocal-semigroup, or, for inputs above -C, skewed-chi2:C or skewed-intersection:C (${default}). The warm-up chooses its scale unless it is given last, as in gaussian:2.5."`
	Metric      string   `placeholder:"FILE" help:"Metric file from accrete metric, used instead of the column weights of the warm-up: the metric of the row's --key, or else the shared one."`
	Sampling    string   `enum:"${samplings}" default:"iid" help:"Sampling of the frequencies: ${enum} (${default}); sorf and fastfood need 64 inputs or more, and these, qmc and leverage not every kernel."`
	MaxFeatures int      `name:"max-features" default:"4096" help:"Maximum number of random features (${default})."`
	Memory      string   `placeholder:"SIZE" help:"Memory that the random features of dsg, udsg and cdsg may take, such as 512MB, instead of --max-features."`
	BlockSize   int      `name:"block-size" default:"0" help:"Random features in a block; 0 selects the default of the algorithm."`
	Minibatch   int      `default:"0" help:"Rows per step; 0 selects the default of the algorithm, 32 for newton and ridge, 1,024 for dsg, udsg and cdsg, and 128 for the others."`
	stepFlags

	NormalScores string `default:"auto" enum:"auto,off" help:"Numbers as normal scores. auto: those of more than 33 values, if the leave-one-out error of the first rows is smaller so, as with long tails. off: only columns of type numeric:normal (${default})."`

	Folds       int     `default:"0" help:"Out-of-fold statistics: encode the categories of each of N parts of the first rows, 2 to 100, with the statistics of the other parts instead of those of the rows before; 0: do not (${default})."`
	Effort      string  `default:"default" placeholder:"NUMBER|default|auto" help:"Rows of the window that the steps of newton visit for each example, from 1 to 1024: fewer are faster and less accurate, see docs/effort.md. auto: 256, or 128 if labels are mostly noise. default: auto, or 4 with --sparse (${default})."`
	Sparse      int     `placeholder:"BITS" help:"For rows of very many columns, such as words, of which most are 0: a linear model of all inputs, hashed by their names to 2^BITS, from 8 to 24, beside random features of a projection (docs/sparse.md)."`
	Forest      string  `default:"auto" placeholder:"NUMBER|auto" help:"Number of randomised trees, for example 200, whose leaves newton uses as additional features; 0: none. auto: 100 trees on trial in a model with a mixture and without --refit, discarded within 8,000 rows unless they reduce the loss (${default})."`
	Lambda      float64 `default:"0" help:"Regularisation: weight of half the squared norm beside the mean loss; 0: for dsg, udsg and cdsg the warm-up chooses it, for others 1e-6."`
	Seed        uint64  `default:"1" help:"Seed of all random numbers (${default})."`
	Shuffle     *uint64 `placeholder:"SEED" help:"Read the whole file into memory and shuffle its rows with this seed."`
	SkipBad     bool    `name:"skip-bad" help:"Count unreadable rows, by reason with the first line of each, and continue, instead of stopping at the first."`
	Refit       bool    `help:"Finally solve for the coefficients on the last rows, and certify the solution."`
	Window      int     `default:"8192" help:"Number of rows for --refit (${default})."`
	Tolerance   float64 `default:"1e-3" help:"Duality gap at which --refit stops, relative to the objective of the zero model (${default})."`
	Prune       float64 `placeholder:"SHARE" help:"Remove random features in --refit: penalty of the norm of each one's coefficients, as a share of the least for which none is left."`
	ByNorm      bool    `help:"Draw the rows of --refit by the lengths of their features and their weights, instead of in permutations; see docs/dspdc.md."`
	Coordinates int     `placeholder:"Q" help:"Number of coefficients of a score that a step of --refit moves (default: all, with one row; see docs/dspdc.md)."`
	Penalty     float64 `placeholder:"NUMBER" help:"Regularisation of --refit (default: chosen by leave-one-out on the last 512 rows)."`
	Plot        string  `placeholder:"FILE" help:"Plot the error over time, and the weights of a mixture, to this PNG or SVG file."`
	Predictions string  `placeholder:"FILE" help:"Write the rows with their progressive predictions, each made before the row was learned, in the format of the training file if that is CSV, LIBSVM or JSON lines, and otherwise as JSON lines; compressed if the name ends with .gz. The file is complete or, if the run fails or is interrupted, what it was before."`
	Save        string  `placeholder:"FILE" help:"Save the final model as a snapshot file."`

	given map[string]bool // flags on the command line
}

func (Command) Help() string {
	return `Streams a file once through the learner, without Kafka: each row is predicted, then learned. The progressive error is that of these predictions; the test error is that of the final model on the test file. The error is the error rate for classification, and the mean squared error divided by the variance of the labels (nMSE) for regression, averaged over several targets. With a quantile loss it also prints the pinball loss and the share of the labels below the prediction, for several quantiles those of each and the share of rows with crossing quantiles (before they are sorted), and with huber and absolute the mean absolute error (MAE), all in the units of the label. Unless all columns are plain numbers, each is listed with its type, its missing and distinct values, what the model sees of it, and its importance: the total-effect index of the final model, which is the share of the variance of its scores that is lost if the column is not known (docs/columns.md). For novelty it is the share of flagged rows, which --nu determines. With --json, progressive and test are objects: error, nmse or flagged, with further figures; accrete learn --json has progressive as a number, over the last 10,000 examples.`
}

func (Command) Examples() string {
	return `
accrete fit train.csv.gz --test test.csv.gz
accrete fit data.libsvm --task classification --json
accrete fit train.csv.gz --algorithm all --refit --test test.csv.gz
accrete fit arm.csv --label x,y,z --test other.csv --json
accrete fit logs.csv --task novelty --nu 0.01
zcat big.csv.gz | accrete fit - --label price`
}

func (f *Command) Run(ctx context.Context, e *env.Env) error {
	options, err := f.options(e)
	if err != nil {
		return err
	}
	if err := f.foresee(); err != nil {
		return err
	}
	c := f.decode(options.Task)
	file, err := files.Open(ctx, e, f.Train, c, decode.Schema{})
	if err != nil {
		return err
	}
	defer file.Close()
	warnOfFile(e, file)
	run, err := offline.NewFit(options, c)
	if err != nil {
		return exit.Usage("%w", err)
	}
	r := Report{Algorithm: options.Algorithm, Cap: options.Cap()}
	curve := curves.NewRecorder(options.Algorithm, 0)
	var recent window
	start := time.Now()
	out, err := f.progressive(ctx, file, run)
	if err != nil {
		return err
	}
	defer out.close()
	if err := f.learn(ctx, e, file, run, options, curve, &recent, out, &r); err != nil {
		return err
	}
	p := run.Finish()
	curve.End(p)
	schema := file.Schema()
	if p.Examples == 0 {
		return files.Unlabelled(file, f.Train, ", so nothing was learned")
	}
	unwritten := out.finish() // the report does not depend on files
	if unwritten != nil {
		unwritten = fmt.Errorf("--predictions: %w", unwritten)
	}
	taken, why := file.Task()
	r.fill(p, schema, len(f.Label), time.Since(start))
	names := schema.Classes
	if p.Task == learner.Novelty {
		names, r.Algorithm, r.Baselines = noveltyClasses, options.Algorithm, nil
	}
	r.Progressive.Classes = display.NewClasses(run.Figures(f.Precision), names)
	r.Progressive.Figures = run.Deviation()
	f.warnOfLabels(e, file, &r)
	f.warnOfFields(e, &r)
	warnOfCosts(e, options, schema.Classes)
	if f.Shuffle == nil && f.Lags == 0 && r.sorted(p) {
		e.Log.Warn().Msg("successive labels hardly differ: if the rows are sorted by the label, the progressive error says nothing about other rows, and --shuffle 1 learns a better model")
	}
	s, err := run.Snapshot(schema)
	if err != nil {
		return err
	}
	r.StateHash = snapshot.StateHash(s.Schema, s.State) // a learner of the same rows has it
	if s, err = run.Final(schema); err != nil {
		return err
	}
	final := run.Progress() // of the model that is saved
	r.Features, r.Kernel, r.Cap = final.Features, final.Kernel, final.Cap
	r.describe(e, schema, run.Columns())
	unwritten = errors.Join(unwritten, f.write(ctx, p.Task, curve, s))
	c.Task = taken
	if err := f.evaluate(ctx, e, c, s, schema, &recent, &r); err != nil {
		return errors.Join(err, unwritten)
	}
	r.Skipped, r.Reasons = r.skipped.Total(), r.skipped.Reasons()
	text := f.text(r, taken, why)
	if f.Print {
		text += "\n" + strings.TrimSuffix(r.columns.Declaration(schema, c.Types), "\n")
	}
	return errors.Join(e.Print(f.JSON, text, r), unwritten)
}

// describe sets what the final model sees of the columns, and logs if it has had too few rows to see any.
func (r *Report) describe(e *env.Env, s *decode.Schema, seen []learner.Column) {
	fitted := r.Kernel != ""
	r.Columns = inputs.Decided(r.columns.Report(s, seen), fitted)
	if !fitted && len(s.Classes) != 1 { // of one class, warnOfLabels has said why
		e.Log.Warn().Int64("rows", r.Examples).Msg("too few labelled rows for the first fit: the final model predicts the same for all rows")
	}
}

// warnOfLabels logs what is remarkable about the labels of a file that has been read.
func (f *Command) warnOfLabels(e *env.Env, file *decode.File, r *Report) {
	classes := file.Schema().Classes
	if task, _ := file.Task(); task == learner.Classification && len(classes) < 2 {
		e.Log.Warn().Strs("classes", classes).Msg("all labels are equal, so there is nothing to learn")
	}
	if n := file.LikeClasses(); n > 0 {
		e.Log.Warn().Int("labels", n).Msg("the labels are a few whole numbers, and were learned as values: if they are classes, use --task classification, and otherwise --task regression to confirm")
	}
	if percent := r.tail.Percent(); percent > 0 && (f.Loss == "auto" || f.Loss == "square") {
		watch.LongTail(&e.Log, percent)
	}
}

// warnOfFields logs that --key or --weight names a field that no row has. Only CSV files have a header
// that would say so at once.
func (f *Command) warnOfFields(e *env.Env, r *Report) {
	if f.Key != "" && !r.keyed {
		e.Log.Warn().Str("key", f.Key).Msg("no row has the field that --key names at its top, so all rows have the same key")
	}
	if f.Weight != "" && !r.weighted {
		e.Log.Warn().Str("weight", f.Weight).Msg("no row has another weight than 1 in the field that --weight names at its top")
	}
}

// warnOfFile logs what a file may not be meant to be.
func warnOfFile(e *env.Env, file *decode.File) {
	if file.Unnamed() {
		e.Log.Warn().Msg("the first column has no name, so it is no input: name it in the header if it is one")
	}
	if file.Alike() {
		e.Log.Warn().Msg("the first labels are one and the same whole number, which is taken for a class: if labels are numbers, use --task regression")
	}
}

// write writes the files that --plot and --save name. An error of one does not keep the other from
// being written.
func (f *Command) write(ctx context.Context, task learner.Task, curve *curves.Recorder, s *snapshot.Snapshot) error {
	var unplotted error
	if f.Plot != "" {
		drawn := curve.Curves
		if task == learner.Novelty {
			drawn = drawn[:1] // there are no baselines
		}
		if err := curves.Draw(f.Plot, filepath.Base(f.Train), task, drawn); err != nil {
			unplotted = fmt.Errorf("--plot: %w", err)
		}
	}
	return errors.Join(unplotted, files.Save(ctx, f.Save, s))
}

// warnOfCosts names the classes in --costs and --balance that no row has.
func warnOfCosts(e *env.Env, options learner.Config, classes []string) {
	for _, name := range options.NamedCosts() {
		if !slices.Contains(classes, name) {
			e.Log.Warn().Str("class", name).Strs("classes", classes).Msg("--costs names a class that no row has")
		}
	}
	for _, name := range options.NamedShares() {
		if !slices.Contains(classes, name) {
			e.Log.Warn().Str("class", name).Strs("classes", classes).Msg("--balance names a class that no row has")
		}
	}
}
