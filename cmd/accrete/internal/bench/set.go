package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/curves"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
)

// set is a data set in memory.
type set struct {
	name        string
	rows, test  []decode.Row
	task        learner.Task
	schema      *decode.Schema
	rowsAreTime bool // rows are in time order
}

// find returns the sorted names of the sets to run.
func (c *Command) find() ([]string, error) {
	var names []string
	for _, kind := range []string{"train", "stream"} {
		for _, ending := range endings {
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
			return nil, exit.Usage("%s", c.missing(want))
		}
	}
	if len(c.Sets) > 0 {
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(c.Sets, n) })
	}
	if len(names) == 0 {
		return nil, exit.Usage("%s has no NAME.train.csv and no NAME.stream.csv, plain or .gz, and no .libsvm", c.Dir)
	}
	return names, nil
}

// path returns the file of a set and a kind, and whether it exists.
func (c *Command) path(name, kind string) (string, bool) {
	for _, ending := range endings {
		path := filepath.Join(c.Dir, name+"."+kind+ending)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

func (c *Command) read(ctx context.Context, e *env.Env, name string) (*set, error) {
	s := &set{name: name}
	path, ok := c.path(name, "train")
	if !ok {
		path, _ = c.path(name, "stream")
		s.rowsAreTime = true
	}
	config := decode.Config{Infer: true, Depth: decode.MaxDepth, Missing: "impute"}
	if c.Label != "" {
		config.Labels = []string{c.Label}
	}
	file, err := files.Open(ctx, e, path, config, decode.Schema{})
	if err != nil && c.Label != "" { // the set has another label
		config.Labels = nil
		file, err = files.Open(ctx, e, path, config, decode.Schema{})
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if s.rows, err = files.ReadFirst(file, c.Rows); err != nil {
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
	test, err := files.Open(ctx, e, path, decode.Config{Task: s.task, Labels: config.Labels, Infer: true, Depth: decode.MaxDepth, Missing: "impute"}, *s.schema)
	if err != nil {
		return nil, err
	}
	defer test.Close()
	s.test, err = files.ReadFirst(test, c.Rows)
	return s, err
}

// run streams the set through one algorithm. The first curve is that of the
// algorithm, the others are those of the baselines.
func (s *set) run(ctx context.Context, name string, precision float64) (result, learner.Progress, []curves.Curve, error) {
	algorithm, direction, _ := strings.Cut(name, "/")
	options := learner.Config{Algorithm: algorithm, Direction: direction, Task: s.task}
	fit, err := offline.NewFit(options, decode.Config{})
	if err != nil {
		return result{}, learner.Progress{}, nil, exit.Usage("%w", err)
	}
	watch := curves.NewRecorder(name, len(s.rows))
	for i, row := range s.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return result{}, learner.Progress{}, nil, ctx.Err()
		}
		fit.Add(row)
		watch.Look(fit, i+1)
	}
	p := fit.Finish()
	took := watch.Elapsed()
	r := result{
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
	return r, p, watch.Curves, nil
}
