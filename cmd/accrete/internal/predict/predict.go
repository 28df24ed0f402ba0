// Package predict is the command that predicts the rows of a file. Its Writer writes rows
// with their predictions in the format of the file.
package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
)

// Command is accrete predict.
type Command struct {
	env.ConfigFlags
	File    string `arg:"" help:"File of rows: CSV with a header, LIBSVM, Vowpal Wabbit, .npy, JSON lines, plain or .gz, Parquet or Avro; - for standard input."`
	Model   string `placeholder:"SNAPSHOT" help:"Snapshot file, as written by fit --save or export --snapshot (default: the newest snapshot in the model log that the configuration names)."`
	JSON    bool   `name:"json" help:"Print rows and predictions as one JSON object per line, whatever the format of the file."`
	Explain bool   `help:"Add what each column adds to the score, compared with the mean row, as a member explanation of JSON; implies --json (docs/audit.md)."`
	SkipBad bool   `name:"skip-bad" help:"Leave out unreadable rows and continue, instead of stopping at the first; standard error has their number by reason, with the first line of each."`
}

func (Command) Help() string {
	return `Predicts the rows of a file with a model, and prints the rows in the format of the file with their predictions: as further columns of CSV (prediction, and probability.CLASS for each class, prediction.LABEL for each of several labels, or score and threshold for novelty), as further members of JSON (prediction, probabilities), and as a comment of a LIBSVM line; rows of other formats as JSON lines. The numbers are those that a scorer would write to a topic, bit for bit. Rows are read as the learner read them: columns by name and with their types; the label may be absent.`
}

func (Command) Examples() string {
	return `
accrete predict rows.csv --model spam.snap > predicted.csv
accrete predict rows.jsonl -c accrete.yaml
accrete predict rows.csv -c accrete.yaml --explain
zcat rows.csv.gz | accrete predict - --model spam.snap --json`
}

func (p *Command) Run(ctx context.Context, e *env.Env) error {
	m, err := p.model(ctx, e)
	if err != nil {
		return err
	}
	c := m.Decode
	c.Format, c.NoLabel = "", true
	if c.Task, err = learner.ParseTask(m.Schema.Task); err != nil {
		return exit.Refuse(err)
	}
	if len(m.Schema.Columns) == 0 {
		return exit.Refuse(errors.New("the model has seen no row, so it has no columns"))
	}
	file, err := files.Open(ctx, e, p.File, c, m.Schema)
	if err != nil {
		return err
	}
	defer file.Close()
	file.IgnoreFurther()
	defer files.WarnOfDropped(e, file, p.File)
	w := NewWriter(e.Stdout, file, p.JSON || p.Explain, c.Labels, m.Schema.Classes)
	u := m.Uncertainty()
	w.Intervals, w.Variance, w.Taus = u.Valid(), u.HasVariance(), m.Taus()
	skipped, failed := p.rows(ctx, e, file, m, w, c.Task)
	if failed == nil {
		failed = w.Begin(c.Task) // if there was no row
	}
	if err := w.Flush(); err != nil {
		return err
	}
	skipped.Warn(e)
	if failed == nil && skipped.Kept == 0 && skipped.Total() > 0 {
		return fmt.Errorf("%s: none of its %s could be read, so nothing is predicted", p.File, display.Count(skipped.Total(), "row"))
	}
	if failed == nil && skipped.Kept+skipped.Total() == 0 {
		e.Log.Warn().Str("file", p.File).Msg("the file has no rows, so nothing is predicted")
	}
	return failed
}

// model returns the model to predict with.
func (p *Command) model(ctx context.Context, e *env.Env) (*serve.Served, error) {
	if p.Model == "" {
		c, client, err := p.Open(e)
		if p.Config == "" && errors.Is(err, config.ErrInvalid) {
			return nil, fmt.Errorf("no snapshot file (--model SNAPSHOT), and %w", err)
		}
		if err != nil {
			return nil, err
		}
		defer client.Close()
		return setup.NewestModel(ctx, e, c, client)
	}
	b, err := files.ReadSnapshot(p.Model)
	if err != nil {
		return nil, err
	}
	s, err := snapshot.Decode(b, 0)
	if err != nil {
		return nil, exit.Refuse(fmt.Errorf("%s: %w", p.Model, err))
	}
	m, err := serve.NewServed(s)
	if err != nil {
		return nil, exit.Refuse(fmt.Errorf("%s: %w", p.Model, err))
	}
	return m, nil
}

// batchRows is the number of rows of a batch.
const batchRows = 256

// rows predicts the rows of file, and returns those that were left out.
func (p *Command) rows(ctx context.Context, e *env.Env, file *decode.File, m *serve.Served, w *Writer, task learner.Task) (skipped files.Skipped, err error) {
	var b learner.Batch
	b.Reset(len(m.Schema.Columns))
	encoder := EncoderOf(m.Schema.Classes)
	rows := make([]Row, 0, batchRows)
	flush := func() error {
		if b.Len() == 0 {
			return nil
		}
		m.Observe(&b)
		out := m.Predict(&b)
		rules := record.Example{Decision: out.Decision, Quantiles: out.Quantiles, Mixture: out.Mixture}
		var why []learner.Explanation
		if p.Explain {
			var err error
			if why, err = m.Explain(&b); err != nil {
				return exit.Refuse(err)
			}
		}
		for i := range rows {
			rules.Intervals = out.Uncertainty(i)
			x := Prediction{Task: out.Task, Values: out.Row(i), Rules: rules, Encoder: encoder, Classes: m.Schema.Classes}
			if why != nil {
				x.Explanation = record.AppendExplanation(nil, why[i], &m.Schema, explained(m))
			}
			if err := w.Write(rows[i], task, x); err != nil {
				return err
			}
		}
		skipped.Kept += int64(len(rows))
		b.Reset(len(m.Schema.Columns))
		rows = rows[:0]
		return nil
	}
	progress, start, n := e.Progress(false), time.Now(), int64(0)
	last := start
	defer progress.Done()
	for ctx.Err() == nil {
		if n++; e.Terminal && n%batchRows == 0 && time.Since(last) > time.Second {
			last = time.Now()
			progress.Update(display.Count(n, "row")+display.Left(last.Sub(start), file.Share()), nil)
		}
		row, err := file.Next()
		if err == io.EOF {
			err := flush()
			return skipped, err
		}
		var read Row
		if err == nil {
			read, err = w.Row(file)
		}
		if p.SkipBad && err != nil && skipped.Add(err) {
			continue
		}
		if err != nil {
			err := errors.Join(flush(), files.Skippable(err, true))
			return skipped, err
		}
		b.Append(row.X, learner.Label{}, 1)
		b.SetWindows(row.Windows)
		b.SetSparse(row.Sparse)
		if m.Keyed() {
			b.SetKey(string(row.Key))
		}
		rows = append(rows, read)
		if b.Len() == batchRows {
			if err := flush(); err != nil {
				return skipped, err
			}
		}
	}
	return skipped, ctx.Err()
}

// explained returns the names of the scores of a model: classes, or several labels.
func explained(m *serve.Served) []string {
	if len(m.Schema.Classes) > 0 {
		return m.Schema.Classes
	}
	return m.Decode.Labels
}
