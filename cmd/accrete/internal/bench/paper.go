package bench

import (
	"context"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/process"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/papers"
	"github.com/accrete-ml/accrete/refit/metriclearn"
)

// paper runs the experiments of the paper that --paper names.
func (c *Command) paper(ctx context.Context, e *env.Env) error {
	switch c.Paper {
	case "dsg", "cdsg":
		return c.gradients(ctx, e)
	}
	return c.dspdc(ctx, e)
}

// dspdc runs the experiments of the paper on DSPDC.
func (c *Command) dspdc(ctx context.Context, e *env.Env) error {
	if !(c.Seconds > 0) {
		return exit.Usage("--seconds is %v: want more than 0", c.Seconds)
	}
	progress := e.Progress(false)
	o := papers.Options{Seconds: c.Seconds, Full: c.Full, Clock: process.CPUSeconds, Progress: func(text string) { progress.Update(text, nil) }}
	if c.Dir != "" {
		f := &folder{dir: c.Dir, label: c.Label}
		if _, ok := f.path("letter", "train"); !ok {
			return exit.Usage("%s has no letter.train.csv, plain or .gz", c.Dir)
		}
		var err error
		if o.Letter, err = c.paperSet(ctx, e, f, "letter"); err != nil {
			return err
		}
		if _, ok := f.path("covtype15k", "train"); ok {
			if o.Covtype, err = c.paperSet(ctx, e, f, "covtype15k"); err != nil {
				return err
			}
		}
	}
	report, err := papers.DSPDC(ctx, o)
	if err != nil {
		return err
	}
	progress.Done()
	return c.present(e, report)
}

// present draws and prints the report of experiments.
func (c *Command) present(e *env.Env, report interface {
	Draw(dir string) error
	String() string
}) error {
	if c.Plots != "" {
		if err := report.Draw(c.Plots); err != nil {
			return err
		}
	}
	return e.Print(c.JSON, report.String(), report)
}

// paperSet reads a classification set.
func (c *Command) paperSet(ctx context.Context, e *env.Env, f *folder, name string) (*papers.Set, error) {
	set, err := f.read(ctx, e, name, c.Shuffle)
	if err == nil {
		err = set.numeric()
	}
	if err != nil {
		return nil, err
	}
	task := func(rows []decode.Row) (t metriclearn.Task) {
		for _, row := range rows {
			t.Points, t.Classes = append(t.Points, row.X...), append(t.Classes, row.Label.Class)
		}
		return t
	}
	return &papers.Set{Name: set.name, Dim: len(set.schema.Columns), Classes: set.schema.Classes, Train: task(set.rows), Test: task(set.test)}, nil
}
