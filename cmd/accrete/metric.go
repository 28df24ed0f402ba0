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

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
)

type metricCommand struct {
	jsonFlag
	Train  string  `arg:"" help:"File to learn from: CSV with a header, or JSON lines; plain or .gz; - for standard input."`
	Key    string  `placeholder:"COLUMN" help:"Column that says whose a row is: each has a metric of its own, beside the one that all share. Without it there is one metric."`
	Label  string  `placeholder:"COLUMN" help:"Column with the class (y or label)."`
	Test   string  `placeholder:"FILE" help:"File to compare the metrics on, by nearest neighbours."`
	Rows   int     `default:"300" help:"The most rows of a key, the last ones (${default})."`
	Shared float64 `default:"0.01" help:"Weight of the shared metric's distance to the Euclidean one (${default})."`
	Own    float64 `default:"0.1" help:"Weight of the size of each key's own metric (${default})."`
	Gap    float64 `default:"1e-3" help:"How near to come to the optimum, relative to the objective at 0 (${default})."`
	Save   string  `placeholder:"FILE" help:"Write the metrics as JSON."`
}

func (metricCommand) Help() string {
	return `Learns a metric for classes, in which the nearest neighbours of a row are of its class (large margin nearest neighbours), or for the keys of a file together one that all share and one for each key that is added to it (multi-task). Columns are first brought to mean 0 and deviation 1. It says how near to the optimum they are, and with --test how often the three nearest neighbours are wrong under no metric, one metric, and these. What --save writes can be the metric of a learner's kernel: accrete fit --metric FILE, or learner: {kernel: {metric: FILE}} in a configuration.`
}

func (metricCommand) Examples() string {
	return `
accrete metric train.csv --save metric.json
accrete metric payments.csv --key tenant --test later.csv --save metric.json`
}

type metricReport struct {
	Keys        int             `json:"keys"` // 0 where all rows have one metric
	Rows        int             `json:"rows"`
	Columns     int             `json:"columns"`
	Triplets    int             `json:"triplets"`
	RelativeGap float64         `json:"relative_gap"`
	Gap         float64         `json:"gap"`
	Passes      float64         `json:"passes"`
	Seconds     float64         `json:"seconds"`
	Test        *neighborReport `json:"test"` // null without a test file
}

// keyed is the rows of a file by their keys.
type keyed struct {
	keys  []string // in the order in which they came
	tasks map[string]*refit.Labelled
	rows  int
}

func (m *metricCommand) Run(ctx context.Context, e *env) error {
	if m.Rows < 2 || !(m.Gap > 0) {
		return wrongUse("--rows %d, --gap %v: want 2 rows or more and a gap above 0", m.Rows, m.Gap)
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
	config := refit.MetricConfig{Shared: m.Shared, Own: m.Own, Single: m.Key == ""}
	solver := refit.Config{Relative: m.Gap, Primal: 1, Dual: 20}
	if !config.Single {
		solver.Primal = min(4, 1+len(tasks))
	}
	problem, err := refit.MetricProblem(tasks, dim, config)
	if err != nil {
		return refuse(err)
	}
	solver.Dual = min(solver.Dual, len(problem.Losses))
	metrics, s, err := refit.LearnMetrics(ctx, tasks, dim, config, solver)
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
		Keys: len(f.Own), Rows: train.rows, Columns: dim, Triplets: len(problem.Losses),
		RelativeGap: s.Relative, Gap: s.Gap(), Passes: s.Passes, Seconds: clock(),
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
		n := taskSet{name: m.Test, dim: dim, learn: tasks, check: scaled(f, test, train.keys)}
		single := metrics
		if !config.Single {
			one := config
			one.Single, solver.Primal = true, 1
			if single, _, err = refit.LearnMetrics(ctx, tasks, dim, one, solver); err != nil {
				return err
			}
		}
		r.Test = &neighborReport{Tasks: m.Test, Gap: r.Gap, Seconds: r.Seconds}
		n.errors(r.Test, single, metrics)
	}
	return e.print(m.JSON, r.String(), r)
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
	k := &keyed{tasks: map[string]*refit.Labelled{}}
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
			t = new(refit.Labelled)
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
	return k, file.Schema(), nil
}

// scale returns the means and the reciprocal deviations of the columns.
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

// scaled returns the rows of keys as tasks, which may be empty.
func scaled(f learner.MetricFile, k *keyed, keys []string) []refit.Labelled {
	tasks := make([]refit.Labelled, len(keys))
	for j, key := range keys {
		t := k.tasks[key]
		if t == nil {
			continue
		}
		tasks[j] = refit.Labelled{Points: slices.Clone(t.Points), Classes: t.Classes}
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
	fmt.Fprintf(&b, "%s rows of %d columns, %s triplets\n", thousands(int64(r.Rows)), r.Columns, thousands(int64(r.Triplets)))
	fmt.Fprintf(&b, "within %.2g of the optimum (relative gap %.1e), %.0f passes, %.2f s", r.Gap, r.RelativeGap, r.Passes, r.Seconds)
	if t := r.Test; t != nil {
		fmt.Fprintf(&b, "\nerror of the three nearest neighbours: %.4f under no metric, %.4f under one", t.Euclidean, t.One)
		if r.Keys > 0 {
			fmt.Fprintf(&b, ", %.4f under one for each key", t.Many)
		}
	}
	return b.String()
}

// mostMetric is how many bytes of a file of metrics are read.
const mostMetric = 1 << 30

// readMetric reads what accrete metric --save writes.
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
