// Package metric is the command that learns a metric of the inputs.
package metric

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/process"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/metric"
	"github.com/accrete-ml/accrete/refit/metriclearn"
	"github.com/accrete-ml/accrete/refit/optim"
)

// Command is accrete metric.
type Command struct {
	env.ConfigFlags
	env.JSONFlag
	Train     string  `arg:"" optional:"" help:"File to learn from: CSV with a header, or JSON lines; plain or .gz; - for standard input. Without it, the last learned records of the model of -c."`
	Window    int     `default:"4096" help:"Number of the last learned records, with -c (${default})."`
	Key       string  `placeholder:"COLUMN" help:"Grouping column, for example the tenant. Each key has a metric of its own, next to the one that all share. Without it there is one metric. With -c it is input.key, or any name for the records' own keys."`
	Label     string  `placeholder:"COLUMN" help:"Column with the class (y or label)."`
	Test      string  `placeholder:"FILE" help:"File to compare the metrics on, by nearest neighbours."`
	Rows      int     `default:"300" help:"Maximum number of rows of a key: the last ones (${default})."`
	Shared    float64 `placeholder:"PENALTY" help:"Penalty of the distance of the shared metric to the Euclidean one. Chosen on held-out rows by default."`
	Own       float64 `placeholder:"PENALTY" help:"Penalty of the size of the own metric of each key. Chosen on held-out rows by default."`
	Tolerance float64 `default:"1e-3" help:"Duality gap at which to stop, relative to the objective at 0 (${default})."`
	Save      string  `placeholder:"FILE" help:"Write the metrics as JSON."`
}

func (Command) Help() string {
	return `Learns a metric in which the nearest neighbours of a row are of its class (large margin nearest neighbours). With --key it learns a metric that all keys share, and one for each key that is added to it (multi-task).

Columns are first scaled to mean 0 and standard deviation 1. The penalties, which keep the metrics close to the Euclidean one, are chosen by three-fold cross-validation of the error of the three nearest neighbours.

With -c it learns from the records that a model has learned last, which it reads again from the input topics in the order recorded in the model log. Metrics are part of the configuration of a model: a running model does not change. To use new ones, start a model with them.

It prints an upper bound of the duality gap and, with --test, the error of the three nearest neighbours without a metric, with one metric, and with one metric per key. A learner's kernel can use the file written by --save: accrete fit --metric FILE, or learner: {kernel: {metric: FILE}} in a configuration.`
}

func (Command) Examples() string {
	return `
accrete metric train.csv --save metric.json
accrete metric payments.csv --key tenant --test later.csv --save metric.json
accrete metric -c accrete.yaml --key tenant --window 20000 --save metric.json`
}

// Files returns the files that are read and written.
func (m *Command) Files() env.Files {
	return env.Files{
		Inputs:  append(m.ConfigFlags.Inputs(), env.Named{Name: "the training file", Path: m.Train}, env.Named{Name: "--test", Path: m.Test}),
		Outputs: []env.Named{{Name: "--save", Path: m.Save}},
	}
}

func (m *Command) Run(ctx context.Context, e *env.Env) error {
	if m.Train == "" && m.Config == "" {
		return exit.Usage("want a file, or -c FILE, to learn from")
	}
	switch {
	case m.Window < 2:
		return exit.Usage("--window is %d: want 2 or more", m.Window)
	case m.Rows < 2:
		return exit.Usage("--rows is %d: want 2 or more", m.Rows)
	case !(m.Tolerance > 0):
		return exit.Usage("--tolerance is %v: want more than 0", m.Tolerance)
	case !(m.Shared >= 0):
		return exit.Usage("--shared is %v: want 0 or more", m.Shared)
	case !(m.Own >= 0):
		return exit.Usage("--own is %v: want 0 or more", m.Own)
	}
	c := decode.Config{Label: m.Label, Key: m.Key, Task: learner.Classification}
	var train *keyed
	var schema *decode.Schema
	var err error
	if m.Train != "" {
		train, schema, err = m.read(ctx, e, m.Train, c, decode.Schema{}, m.Rows)
	} else {
		train, schema, err = m.learned(ctx, e)
	}
	if err != nil {
		return err
	}
	dim := len(schema.Columns)
	f := metric.File{Columns: schema.Columns}
	f.Center, f.Scale = train.scale(dim)
	tasks := scaled(f, train, train.keys)
	clock := process.Clock()
	metrics, s, config, err := learnMetrics(ctx, tasks, dim, m.Tolerance, metriclearn.Config{Shared: m.Shared, Own: m.Own, Single: m.Key == ""})
	if err != nil {
		return err
	}
	f.Shared = metrics.Shared
	if m.Key != "" {
		f.Own = map[string]metric.Numbers{}
		for j, key := range train.keys {
			f.Own[key] = metrics.Own[j]
		}
	}
	r := Report{
		Keys: len(f.Own), Rows: train.rows, Columns: dim, Triplets: len(s.Y), Shared: config.Shared,
		RelativeGap: s.Relative, Gap: s.Gap(), Passes: s.Passes, Seconds: clock(),
	}
	if m.Key != "" {
		r.Own = config.Own
	}
	unwritten := m.write(ctx, f) // the report does not depend on it
	if m.Test != "" {
		test, _, err := m.read(ctx, e, m.Test, c, *schema, math.MaxInt)
		if err != nil {
			return errors.Join(err, unwritten)
		}
		single := metrics
		if m.Key != "" {
			if single, _, _, err = learnMetrics(ctx, tasks, dim, m.Tolerance, metriclearn.Config{Shared: m.Shared, Single: true}); err != nil {
				return err
			}
		}
		wrong := metriclearn.Compare(tasks, scaled(f, test, train.keys), dim, single, metrics)
		r.Test = &wrong
		if wrong.Rows == 0 {
			return errors.Join(exit.Refuse(fmt.Errorf("%s has no rows of the keys that were learned from", m.Test)), unwritten)
		}
	}
	return errors.Join(e.Print(m.JSON, r.String(), r), unwritten)
}

// write writes the file that --save names.
func (m *Command) write(ctx context.Context, f metric.File) error {
	if m.Save == "" {
		return nil
	}
	text, err := json.Marshal(f)
	if err == nil {
		err = files.Write(ctx, m.Save, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return nil
}

// learnMetrics learns the metrics of tasks, and chooses the penalties of c that
// are 0.
func learnMetrics(ctx context.Context, tasks []metriclearn.Task, dim int, gap float64, c metriclearn.Config) (*metriclearn.Metrics, *optim.Solution, metriclearn.Config, error) {
	metrics, s, c, err := metriclearn.LearnTuned(ctx, tasks, dim, gap, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, c, ctx.Err()
		}
		return nil, nil, c, exit.Refuse(err)
	}
	return metrics, s, c, nil
}

// Report is the result of accrete metric.
type Report struct {
	Keys        int                 `json:"keys"` // 0 if all rows have one metric
	Rows        int                 `json:"rows"`
	Columns     int                 `json:"columns"`
	Triplets    int                 `json:"triplets"`
	Shared      float64             `json:"shared"` // penalties, configured or chosen
	Own         float64             `json:"own"`    // 0 if all rows have one metric
	RelativeGap float64             `json:"relative_gap"`
	Gap         float64             `json:"gap"`
	Passes      float64             `json:"passes"`
	Seconds     float64             `json:"seconds"` // including the choice of penalties
	Test        *metriclearn.Errors `json:"test"`    // null without a test file
}

func (r Report) String() string {
	var b strings.Builder
	if r.Keys > 0 {
		fmt.Fprintf(&b, "%d keys, ", r.Keys)
	}
	fmt.Fprintf(&b, "%s rows of %d columns, %s triplets\n", display.Thousands(int64(r.Rows)), r.Columns, display.Thousands(int64(r.Triplets)))
	fmt.Fprintf(&b, "penalty %g of the shared metric", r.Shared)
	if r.Keys > 0 {
		fmt.Fprintf(&b, ", %g of each key's own", r.Own)
	}
	fmt.Fprintf(&b, "\nwithin %.2g of the optimum (relative gap %.1e), %.0f passes, %.2f s", r.Gap, r.RelativeGap, r.Passes, r.Seconds)
	if t := r.Test; t != nil {
		fmt.Fprintf(&b, "\nerror of the three nearest neighbours: %.4f without a metric, %.4f with one", t.Euclidean, t.One)
		if r.Keys > 0 {
			fmt.Fprintf(&b, ", %.4f with one for each key", t.Many)
		}
	}
	return b.String()
}
