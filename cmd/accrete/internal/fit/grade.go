package fit

import (
	"context"
	"io"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/process"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/snapshot"
)

// evaluate tests the final model on --test, and refits it to the last rows with --refit.
func (f *Command) evaluate(ctx context.Context, e *env.Env, c decode.Config, s *snapshot.Snapshot, schema *decode.Schema, recent *window, r *Report) error {
	if len(r.Columns) > 0 && f.Lags == 0 {
		model, err := learner.NewModel(s.State.Serving)
		if err != nil {
			return err
		}
		r.columns.SetImportance(r.Columns, schema, model)
	}
	if f.Test != "" {
		model, err := learner.NewModel(s.State.Serving)
		if err != nil {
			return err
		}
		if r.Test, err = f.test(ctx, e, c, model, schema, r); err != nil {
			return err
		}
	}
	if !f.Refit {
		return nil
	}
	return f.refit(ctx, e, c, s, schema, recent, r)
}

// test computes the figures of a model on the rows of --test.
func (f *Command) test(ctx context.Context, e *env.Env, c decode.Config, model *learner.Model, schema *decode.Schema, r *Report) (*display.Figure, error) {
	file, err := files.Open(ctx, e, f.Test, c, *schema)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	file.IgnoreFurther()
	defer files.WarnOfDropped(e, file, "--test")
	strange := int64(0) // rows with a class that the model has not learned
	g := offline.NewGrade(model, len(schema.Columns))
	g.Classes = schema.Classes
	for ctx.Err() == nil {
		row, err := file.Next()
		if err == io.EOF {
			if g.Rows() == 0 {
				return nil, files.Unlabelled(file, f.Test, ", so nothing was tested")
			}
			fig := display.NewFigure(g.Task(), g.Error(), g.Rows())
			if strange > 0 {
				e.Log.Warn().Int64("rows", strange).Int64("of", g.Rows()).Strs("classes", file.Schema().Classes[len(schema.Classes):]).Msg("rows of --test have classes that the model has not learned, so every prediction for them is wrong")
			}
			if each := g.Errors(); len(each) > 1 {
				fig.Each = each
			}
			names := schema.Classes
			if g.Task() == learner.Novelty {
				names = noveltyClasses
			}
			fig.Figures = g.Deviation()
			fig.Classes = display.NewClasses(g.Figures(f.Precision), names)
			return &fig, nil
		}
		if err := f.bad(e, err, r); err != nil {
			return nil, err
		}
		if err == nil {
			g.Add(row)
			if row.Label.Task == learner.Classification && row.Label.Class >= len(schema.Classes) {
				strange++
			}
		}
	}
	return nil, ctx.Err()
}

// window keeps the most recent labelled rows.
type window struct{ learner.Batch }

// add appends a row. Every n rows it drops all but the last n.
func (w *window) add(row decode.Row, n int) {
	if row.Label.Task == learner.Auto {
		return
	}
	if w.Len() == 0 {
		w.Reset(len(row.X))
	}
	w.Append(row.X, row.Label, row.Weight)
	w.SetKey(string(row.Key))
	w.SetSparse(row.Sparse)
	if w.Len() == 2*n {
		w.Batch = *w.last(n)
	}
}

// last returns the last n rows, or all rows if there are fewer.
func (w *window) last(n int) *learner.Batch { return w.Slice(max(0, w.Len()-n), w.Len()) }

// refit refits the model of a snapshot to the last rows.
func (f *Command) refit(ctx context.Context, e *env.Env, c decode.Config, s *snapshot.Snapshot, schema *decode.Schema, rows *window, r *Report) error {
	model, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return err
	}
	recent := rows.last(f.Window)
	progress, last := e.Progress(false), time.Now()
	solving := display.Solving{Relative: f.Tolerance}
	o := refit.Options{Lambda: f.Penalty, Prune: f.Prune, Coordinates: f.Coordinates, ByNorm: f.ByNorm, Relative: f.Tolerance, Pending: min(s.State.Pending(), recent.Len()), Thinned: f.Balance != "none", Clock: process.Clock(), Progress: func(score int, at optim.Point) {
		text := solving.Text(score, at, time.Now())
		if time.Since(last) > time.Second {
			last = time.Now()
			progress.Update(text, nil)
		}
	}}
	fitted, err := refit.Solve(ctx, model, recent, o)
	progress.Done()
	if err != nil {
		return err
	}
	r.Refit = display.NewRefit(fitted, o.Clock())
	if f.Test != "" {
		r.Refit.Test, err = f.test(ctx, e, c, fitted.Model, schema, r)
	}
	return err
}
