package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/curves"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/process"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
)

// set is a data set in memory.
type set struct {
	at, of      int // index among the data sets, and their number
	name        string
	rows, test  []decode.Row
	file        []decode.Row // training rows in the order of the file; nil for a stream
	task        learner.Task
	schema      *decode.Schema
	rowsAreTime bool // rows are in time order
}

// read reads a set into memory. It shuffles the training rows with the seed, unless the set is a
// stream.
func (f *folder) read(ctx context.Context, e *env.Env, name string, seed uint64) (*set, error) {
	s := &set{name: name}
	path, ok := f.path(name, "train")
	if !ok {
		path, _ = f.path(name, "stream")
		s.rowsAreTime = true
	}
	file, c, err := f.open(ctx, e, name, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if s.rows, err = files.Rows(file, f.rows); err != nil {
		return nil, f.nameable(err)
	}
	if !slices.ContainsFunc(s.rows, func(r decode.Row) bool { return r.Label.Task != learner.Auto }) {
		return nil, files.Unlabelled(file, path, "")
	}
	s.task, _ = file.Task()
	s.schema = file.Schema()
	if s.rowsAreTime {
		return s, nil
	}
	s.file = s.rows
	s = s.shuffled(seed)
	if path, ok = f.path(name, "test"); !ok {
		return s, nil
	}
	c.Task = s.task
	test, err := files.Open(ctx, e, path, c, *s.schema)
	if err != nil {
		return nil, err
	}
	defer test.Close()
	s.test, err = files.Rows(test, f.rows)
	return s, err
}

// numeric returns an error that wraps errUnfit if a column of the set is not a number.
func (s *set) numeric() error {
	var others []string
	for _, f := range s.schema.Fields() {
		if f.Type != learner.NumericColumn.String() {
			others = append(others, f.Name)
		}
	}
	if others == nil {
		return nil
	}
	return fmt.Errorf("%w: it takes numbers only, and these columns are not: %s", errUnfit, strings.Join(others, ", "))
}

// run streams the set through one algorithm. The first curve is that of the
// algorithm, the others are those of the baselines.
func (s *set) run(ctx context.Context, name string, options learner.Config, precision float64) (result, learner.Progress, []curves.Curve, error) {
	fit, err := offline.NewFit(options, decode.Config{})
	if err != nil {
		return result{}, learner.Progress{}, nil, exit.Usage("%w", err)
	}
	fit.Classes = func() []string { return s.schema.Classes }
	watch, cpu := curves.NewRecorder(name, len(s.rows)), process.CPUSeconds()
	for i, row := range s.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return result{}, learner.Progress{}, nil, ctx.Err()
		}
		fit.Add(row)
		watch.Look(fit, i+1)
	}
	p := fit.Finish()
	took := watch.Elapsed()
	cpu = process.CPUSeconds() - cpu
	watch.End(p)
	r := result{
		Algorithm: name, Progressive: display.NewFigure(p.Task, p.Whole.Model.Error, p.Whole.Rows), Features: p.Features,
		Seconds: took.Seconds(), PerSecond: float64(p.Examples) / max(took.Seconds(), 1e-9),
		PerCPUSecond: float64(p.Examples) / max(cpu, 1e-9),
	}
	r.Intervals = newIntervals(p)
	r.Progressive.Figures = fit.Deviation()
	r.Progressive.Classes = display.NewClasses(fit.Figures(precision), s.schema.Classes)
	if len(s.test) > 0 {
		snapshot, err := fit.Final(s.schema)
		if err != nil {
			return r, p, nil, err
		}
		model, err := learner.NewModel(snapshot.State.Serving)
		if err != nil {
			return r, p, nil, err
		}
		g := offline.NewGrade(model, len(s.schema.Columns))
		g.Classes = s.schema.Classes
		for _, row := range s.test {
			g.Add(row)
		}
		f := display.NewFigure(p.Task, g.Error(), g.Rows())
		f.Figures = g.Deviation()
		f.Classes = display.NewClasses(g.Figures(precision), s.schema.Classes)
		r.Test = &f
	}
	return r, p, watch.Curves, nil
}
