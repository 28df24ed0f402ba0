package fit

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/curves"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
)

// learn streams file through run once, and keeps what --plot and --refit need.
func (f *Command) learn(ctx context.Context, e *env.Env, file *decode.File, run *offline.Fit, options learner.Config, curve *curves.Recorder, recent *window, out *progressive, r *Report) error {
	file.Look()
	r.columns.Hint = file.Hint
	from := f.source(file, r.columns.Add)
	defer from.close()
	run.Observed, run.Classes = r.columns.Add, func() []string { return from.schema().Classes }
	progress, start, last, rows := e.Progress(false), time.Now(), time.Now(), 0
	var line timeline.Timeline
	defer progress.Done()
	for {
		row, err := from.next()
		if err == io.EOF {
			r.Rows.Skipped = r.skipped.Total()
			r.LeftOut, r.more = file.LeftOut()
			return nil
		}
		r.Rows.Read++
		if err := f.bad(e, err, r); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		if rows == 0 {
			if err := options.Check(from.schema().Columns); err != nil {
				return err
			}
		}
		if err := out.add(file); err != nil {
			return err
		}
		r.keyed, r.weighted = r.keyed || len(row.Key) > 0, r.weighted || row.Weight != 1
		if y := row.Label; y.Task == learner.Regression && y.Targets() == 1 {
			r.tail.Add(y.Value)
		}
		run.Add(row)
		if f.Refit {
			recent.add(row, f.Window)
		}
		rows++
		if f.Plot != "" {
			curve.Look(run, rows)
		}
		if time.Since(last) > time.Second {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			last = time.Now()
			text, share := f.progress(run.Progress(), time.Since(start)), from.share()
			if e.Terminal {
				line.Observe(run.Progress(), learner.Drifts{})
				text = display.Sparkline(line.Model(), sparkWidth) + " " + text
			}
			progress.Update(text+display.Left(time.Since(start), share), nil)
		}
	}
}

// sparkWidth is the width of the error curve on a terminal, in characters.
const sparkWidth = 16

func (f *Command) progress(p learner.Progress, took time.Duration) string {
	return fmt.Sprintf("%s examples, %s/s, progressive %v", display.Thousands(p.Examples), display.Thousands(int64(float64(p.Examples)/took.Seconds())), display.NewFigure(p.Task, p.Whole.Model.Error, p.Whole.Rows))
}

// bad handles a row that cannot be read: it returns the error, or counts the
// row as skipped.
func (f *Command) bad(e *env.Env, err error, r *Report) error {
	switch {
	case err == nil:
		return nil
	case !f.SkipBad || !r.skipped.Add(err):
		return files.Skippable(err, false)
	}
	if r.skipped.Total() <= 3 {
		e.Log.Warn().Err(err).Msg("skipped")
	}
	return nil
}

// shuffled returns a function that yields the results of next, including
// errors, in an order drawn from seed; io.EOF stays last.
func shuffled(next func() (decode.Row, error), seed uint64) func() (decode.Row, error) {
	type result struct {
		row decode.Row
		err error
	}
	var all []result
	at := -1
	return func() (decode.Row, error) {
		for at < 0 {
			row, err := next()
			if final(err) {
				rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				at = 0
			}
			all = append(all, result{row.Clone(), err})
		}
		r := all[min(at, len(all)-1)]
		at++
		return r.row, r.err
	}
}
