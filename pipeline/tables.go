package pipeline

import (
	"context"

	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// changesBytes bounds the changes of tables in a BATCH, so that its record in the model log also
// has room for schemas and columns.
const changesBytes = 96 << 10

// openTables prepares to read the topics of tables, from the positions that the history has reached
// in them.
func (l *Learner) openTables(ctx context.Context) (err error) {
	tables := l.history.Tables()
	if tables == nil {
		return nil
	}
	decode, err := l.config.Decode.Effective()
	if err != nil {
		return err
	}
	l.tables, err = enrich.Open(ctx, enrich.Config{
		Client: l.config.Client, MaxBytes: decode.MaxBytes,
		Retrying: func(err error) { l.config.Report(event.Retrying{Err: err}) },
		Rejected: func(r enrich.Rejected) { l.config.Report(event.TableRejected{Rejected: r}) },
		Missing:  func(m enrich.Missing) { l.config.Report(event.TableMissing{Missing: m}) },
	}, tables)
	return err
}

// catchUp applies all rows that the topics of tables had when this learner started, before it
// decides on any record.
func (l *Learner) catchUp(intake, work context.Context, src *input.Source, to chan<- *decision) error {
	for l.tables != nil && !l.tables.CaughtUp() {
		if err := l.tables.Wait(intake); err != nil {
			return err
		}
		if err := l.change(work, src, to); err != nil {
			return err
		}
	}
	return nil
}

// enrich applies the changes of tables that have arrived, before the records of the next BATCH.
// That BATCH takes as many of them as it has room for, and BATCHes of their own before it take the
// others.
func (l *Learner) enrich(work context.Context, src *input.Source, to chan<- *decision) error {
	if l.tables == nil {
		return nil
	}
	for l.tables.Pending() > changesBytes {
		if err := l.change(work, src, to); err != nil {
			return err
		}
	}
	return l.takeChanges()
}

// change appends a BATCH that has only changes of tables.
func (l *Learner) change(work context.Context, src *input.Source, to chan<- *decision) error {
	if err := l.takeChanges(); err != nil {
		return err
	}
	next, _, err := l.appendBatch(work, work, src, nil)
	if err != nil || next == nil {
		return err
	}
	return send(work, to, next)
}

func (l *Learner) takeChanges() error { return l.decider.Change(l.tables.Take(changesBytes)) }

// tableStatus returns the status of each table as of the last BATCH, without its lag until the
// tables are open. withoutRow is that of kept.
func (l *Learner) tableStatus(withoutRow []int64) (all []event.Table) {
	tables := l.history.Tables()
	if tables == nil {
		return nil
	}
	status := tables.Status()
	lags := make([]int64, len(status))
	if l.tables != nil {
		lags = l.tables.Lag()
	}
	for i, s := range status {
		t := event.Table{Status: s, Lag: lags[i]}
		if i < len(withoutRow) {
			t.WithoutRow = withoutRow[i]
		}
		all = append(all, t)
	}
	return all
}

// bytesOf returns the memory of tables, of which both the learner and the decider have a copy.
func bytesOf(t *table.Tables) (bytes int64) {
	for _, s := range t.Status() {
		bytes += 2 * s.Bytes
	}
	return bytes
}
