package challenger

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/decisions"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Decisions returns the model log of c.
func Decisions(c model.Config) *decisions.Log {
	return &decisions.Log{Client: c.Client, Topic: model.LogTopic(c.Model), Report: c.Report}
}

// errNoRows means that the rows before a seq cannot be read again: retention has
// deleted the records, or the log was trimmed to just before that seq.
var errNoRows = fmt.Errorf("%w: the input topics have none of the most recently learned records", input.ErrHistory)

// Rows returns the last n labelled records up to s, as rows, and the seq of the BATCH that has the
// first of them. It returns fewer if the log or the input does not have as many. If keyed is true,
// the rows have the keys of their records.
func Rows(ctx context.Context, c model.Config, ins input.Partitions, s *snapshot.Snapshot, n int, keyed bool) (*learner.Batch, int64, error) {
	batches, err := Decisions(c).Before(ctx, s.Seq, s.Chain, n)
	if err != nil {
		return nil, 0, err
	}
	for len(batches) > 0 {
		rows, from, read, err := rowsOf(ctx, c, ins, s, batches, n, keyed)
		var gap *ingest.GapError
		if !errors.As(err, &gap) {
			return rows, from, err
		}
		batches = batches[read+1:] // continue after the BATCH whose records retention has deleted
	}
	return nil, 0, errNoRows
}

// rowsOf returns the last n labelled rows of the batches, and the seq of the BATCH that has the
// first of them. If it returns an error, read is the number of batches that were read before.
func rowsOf(ctx context.Context, c model.Config, ins input.Partitions, s *snapshot.Snapshot, batches []*modellog.Batch, n int, keyed bool) (rows *learner.Batch, from int64, read int, err error) {
	schema, err := record.ReadSchema(s.Schema)
	if err != nil {
		return nil, 0, 0, err
	}
	if _, err := c.KeepReading(s.Config); err != nil {
		return nil, 0, 0, err
	}
	if err := c.Rereadable(); err != nil {
		return nil, 0, 0, err
	}
	c.Decode.Fixed = true // the rows have the columns of the snapshot
	d, err := history.NewDecider(c.Decode, keyed, &schema)
	if err != nil {
		return nil, 0, 0, err
	}
	replay := history.NewReplayer(c.Client, ins, d, ingest.NewBudget(memory.Read), c.Report)
	defer replay.Close()
	skip := -n // labelled rows before the last n
	for _, b := range batches {
		skip += int(b.Counts.Learned)
	}
	rows = new(learner.Batch)
	for i, b := range batches {
		decided, err := replay.Decide(ctx, b)
		if err != nil {
			return nil, 0, i, err
		}
		for k := range decided.Batch.Len() {
			y := decided.Batch.Label(k)
			if y.Task == learner.Auto {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			if rows.Len() == 0 {
				rows.Reset(decided.Batch.Dim())
				from = b.Seq
			}
			rows.Append(decided.Batch.X(k), y, decided.Batch.Weight(k))
			rows.SetKey(decided.Batch.Key(k))
			rows.SetSparse(decided.Batch.Sparse(k))
		}
	}
	return rows, from, len(batches), nil
}
