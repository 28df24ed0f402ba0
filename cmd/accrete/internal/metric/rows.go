package metric

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/metric"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/refit/metriclearn"
)

// keyed holds the rows of a file, grouped by key.
type keyed struct {
	keys  []string // in order of first occurrence
	tasks map[string]*metriclearn.Task
	rows  int
}

// read returns the labelled rows of a file, for each key at most the last most of them.
func (m *Command) read(ctx context.Context, e *env.Env, path string, c decode.Config, s decode.Schema, most int) (*keyed, *decode.Schema, error) {
	file, err := files.Open(ctx, e, path, c, s)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	rows, err := files.Rows(file, 0)
	if err != nil {
		return nil, nil, err
	}
	k := newKeyed()
	for _, row := range rows {
		if row.Label.Task != learner.Auto {
			k.add(m.keyOf(string(row.Key)), row.X, row.Label.Class)
		}
	}
	k.keepLast(most, len(file.Schema().Columns))
	if k.rows == 0 {
		return nil, nil, exit.Refuse(files.Unlabelled(file, path, ""))
	}
	return k, file.Schema(), nil
}

// learned returns the records that the model of the configuration has learned last.
func (m *Command) learned(ctx context.Context, e *env.Env) (*keyed, *decode.Schema, error) {
	c, err := m.Load(e)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Require("input.topics", "input.label"); err != nil {
		return nil, nil, err
	}
	if m.Key != "" && c.Input.Key != "" && m.Key != c.Input.Key {
		return nil, nil, exit.Usage("--key is %s, but input.key is %s, which has the keys of the records", m.Key, c.Input.Key)
	}
	client, err := env.Connect(c)
	if err != nil {
		return nil, nil, err
	}
	defer client.Close()
	p, err := setup.Pipeline(c, client, e.WarnOfRetries)
	if err != nil {
		return nil, nil, err
	}
	rows, schema, err := pipeline.LastLearned(ctx, p, m.Window)
	if err != nil {
		return nil, nil, err
	}
	k := newKeyed()
	for i := range rows.Len() {
		if y := rows.Label(i); y.Task != learner.Classification {
			return nil, nil, exit.Refuse(fmt.Errorf("the model's task is %v: metrics are learned for classes", y.Task))
		}
		for j, v := range rows.X(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, exit.Refuse(fmt.Errorf("column %s has missing values: metrics are learned for numbers in all columns", schema.Columns[j]))
			}
		}
		k.add(m.keyOf(rows.Key(i)), rows.X(i), rows.Label(i).Class)
	}
	k.keepLast(m.Rows, len(schema.Columns))
	return k, schema, nil
}

// keyOf returns the key of a row. Without --key, all rows have the same key.
func (m *Command) keyOf(key string) string {
	if m.Key == "" {
		return ""
	}
	return key
}

func newKeyed() *keyed { return &keyed{tasks: map[string]*metriclearn.Task{}} }

func (k *keyed) add(key string, x []float64, class int) {
	t := k.tasks[key]
	if t == nil {
		t = new(metriclearn.Task)
		k.keys, k.tasks[key] = append(k.keys, key), t
	}
	t.Points, t.Classes = append(t.Points, x...), append(t.Classes, class)
}

// keepLast drops all but the last rows of each key, and counts those left.
func (k *keyed) keepLast(most, dim int) {
	for _, t := range k.tasks {
		if n := len(t.Classes); n > most {
			t.Points, t.Classes = t.Points[(n-most)*dim:], t.Classes[n-most:]
		}
		k.rows += len(t.Classes)
	}
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

// scaled returns a task for each key, with the rows of k in the scale of f. The task of a key
// without rows is empty.
func scaled(f metric.File, k *keyed, keys []string) []metriclearn.Task {
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
