package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit/metriclearn"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/snapshot"
)

type metricCommand struct {
	jsonFlag
	Train     string  `arg:"" help:"File to learn from: CSV with a header, or JSON lines; plain or .gz; - for standard input."`
	Key       string  `placeholder:"COLUMN" help:"Grouping column, for example the tenant. Each key has a metric of its own, next to the one that all share. Without it there is one metric."`
	Label     string  `placeholder:"COLUMN" help:"Column with the class (y or label)."`
	Test      string  `placeholder:"FILE" help:"File to compare the metrics on, by nearest neighbours."`
	Rows      int     `default:"300" help:"Maximum number of rows of a key: the last ones (${default})."`
	Shared    float64 `placeholder:"PENALTY" help:"Penalty of the distance of the shared metric to the Euclidean one. Chosen on held-out rows by default."`
	Own       float64 `placeholder:"PENALTY" help:"Penalty of the size of the own metric of each key. Chosen on held-out rows by default."`
	Tolerance float64 `default:"1e-3" help:"Duality gap at which to stop, relative to the objective at 0 (${default})."`
	Save      string  `placeholder:"FILE" help:"Write the metrics as JSON."`
}

func (metricCommand) Help() string {
	return `Learns a metric in which the nearest neighbours of a row are of its class (large margin nearest neighbours). With --key it learns a metric that all keys share, and one for each key that is added to it (multi-task).

Columns are first scaled to mean 0 and standard deviation 1. The penalties, which keep the metrics close to the Euclidean one, are chosen by three-fold cross-validation of the error of the three nearest neighbours.

It prints an upper bound of the duality gap and, with --test, the error of the three nearest neighbours without a metric, with one metric, and with one metric per key. A learner's kernel can use the file written by --save: accrete fit --metric FILE, or learner: {kernel: {metric: FILE}} in a configuration.`
}

func (metricCommand) Examples() string {
	return `
accrete metric train.csv --save metric.json
accrete metric payments.csv --key tenant --test later.csv --save metric.json`
}

type metricReport struct {
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

// keyed holds the rows of a file, grouped by key.
type keyed struct {
	keys  []string // in order of first occurrence
	tasks map[string]*metriclearn.Task
	rows  int
}

func (m *metricCommand) Run(ctx context.Context, e *env) error {
	if m.Rows < 2 || !(m.Tolerance > 0) || !(m.Shared >= 0) || !(m.Own >= 0) {
		return exit.Usage("--rows %d, --tolerance %v, --shared %v, --own %v: want 2 rows or more, a tolerance above 0 and no negative penalty", m.Rows, m.Tolerance, m.Shared, m.Own)
	}
	c := decode.Config{Label: m.Label, Key: m.Key, Task: learner.Classification}
	train, schema, err := m.read(ctx, e, m.Train, c, decode.Schema{}, m.Rows)
	if err != nil {
		return err
	}
	dim := len(schema.Columns)
	f := learner.MetricFile{Columns: schema.Columns}
	f.Center, f.Scale = train.scale(dim)
	tasks := scaled(f, train, train.keys)
	clock := seconds()
	metrics, s, config, err := learnMetrics(ctx, tasks, dim, m.Tolerance, metriclearn.Config{Shared: m.Shared, Own: m.Own, Single: m.Key == ""})
	if err != nil {
		return err
	}
	f.Shared = metrics.Shared
	if m.Key != "" {
		f.Own = map[string]learner.Numbers{}
		for j, key := range train.keys {
			f.Own[key] = metrics.Own[j]
		}
	}
	r := metricReport{
		Keys: len(f.Own), Rows: train.rows, Columns: dim, Triplets: len(s.Y), Shared: config.Shared,
		RelativeGap: s.Relative, Gap: s.Gap(), Passes: s.Passes, Seconds: clock(),
	}
	if m.Key != "" {
		r.Own = config.Own
	}
	if m.Save != "" {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		if err := snapshot.WriteFile(m.Save, append(text, '\n')); err != nil {
			return err
		}
	}
	if m.Test != "" {
		test, _, err := m.read(ctx, e, m.Test, c, *schema, math.MaxInt)
		if err != nil {
			return err
		}
		single := metrics
		if m.Key != "" {
			if single, _, _, err = learnMetrics(ctx, tasks, dim, m.Tolerance, metriclearn.Config{Shared: m.Shared, Single: true}); err != nil {
				return err
			}
		}
		errors := metriclearn.Compare(tasks, scaled(f, test, train.keys), dim, single, metrics)
		r.Test = &errors
		if errors.Rows == 0 {
			return exit.Refuse(fmt.Errorf("%s has no rows of the keys that %s has", m.Test, m.Train))
		}
	}
	return e.print(m.JSON, r.String(), r)
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

// read returns the last rows of each key.
func (m *metricCommand) read(ctx context.Context, e *env, path string, c decode.Config, s decode.Schema, most int) (*keyed, *decode.Schema, error) {
	file, err := openFile(ctx, e, path, c, s)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	rows, err := readKeyed(file)
	if err != nil {
		return nil, nil, err
	}
	k := &keyed{tasks: map[string]*metriclearn.Task{}}
	dim := len(file.Schema().Columns)
	for _, row := range rows {
		if row.Label.Task == learner.Auto {
			continue
		}
		key := ""
		if m.Key != "" {
			key = string(row.Key)
		}
		t := k.tasks[key]
		if t == nil {
			t = new(metriclearn.Task)
			k.keys, k.tasks[key] = append(k.keys, key), t
		}
		t.Points, t.Classes = append(t.Points, row.X...), append(t.Classes, row.Label.Class)
	}
	for _, t := range k.tasks {
		if n := len(t.Classes); n > most {
			t.Points, t.Classes = t.Points[(n-most)*dim:], t.Classes[n-most:]
		}
		k.rows += len(t.Classes)
	}
	if k.rows == 0 {
		return nil, nil, exit.Refuse(fmt.Errorf("%s has no labelled rows", path))
	}
	return k, file.Schema(), nil
}

// scale returns the means and the reciprocal standard deviations of the
// columns.
func (k *keyed) scale(dim int) (center, scale []float64) {
	center, scale = make([]float64, dim), make([]float64, dim)
	for j := range dim {
		n, mean, squares := 0.0, 0.0, 0.0
		for _, key := range k.keys {
			for i, p := j, k.tasks[key].Points; i < len(p); i += dim {
				n++
				d := p[i] - mean
				mean += d / n
				squares += d * (p[i] - mean)
			}
		}
		center[j], scale[j] = mean, 1
		if squares > 0 {
			scale[j] = 1 / math.Sqrt(squares/n)
		}
	}
	return center, scale
}

// scaled returns the rows of the keys as tasks. Tasks may be empty.
func scaled(f learner.MetricFile, k *keyed, keys []string) []metriclearn.Task {
	tasks := make([]metriclearn.Task, len(keys))
	for j, key := range keys {
		t := k.tasks[key]
		if t == nil {
			continue
		}
		tasks[j] = metriclearn.Task{Points: slices.Clone(t.Points), Classes: t.Classes}
		for i := range t.Points {
			c := i % len(f.Center)
			tasks[j].Points[i] = (t.Points[i] - f.Center[c]) * f.Scale[c]
		}
	}
	return tasks
}

func (r metricReport) String() string {
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

// mostMetric is the maximum size of a metric file, in bytes.
const mostMetric = 1 << 30

// readMetric reads a file written by accrete metric --save.
func readMetric(path string) (*learner.Metric, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostMetric))
	if err != nil {
		return nil, err
	}
	m, err := learner.ParseMetric(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
