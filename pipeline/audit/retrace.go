package audit

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// retrace replays decisions of a model log without publishing anything.
type retrace struct {
	config  model.Config
	history *history.History
	inputs  input.Partitions
	replay  *history.Replayer
}

// openRetrace returns a retrace with the state that from begins with.
func openRetrace(ctx context.Context, c model.Config, j *journal.Journal, from modellog.Recovery, options []byte) (*retrace, error) {
	h, err := begin(ctx, c, j, from, options)
	if err != nil {
		return nil, err
	}
	ins, err := input.Open(ctx, c.Client, c.Topics)
	if err != nil {
		return nil, err
	}
	ins, former, err := ins.WithFormer(ctx, c.Client, from.Entries)
	if err != nil {
		return nil, err
	}
	d, err := history.NewDecider(c.Decode, c.Learner.Keyed(), h.Schema)
	if err != nil {
		return nil, err
	}
	d.Enrich(h)
	r := &retrace{config: c, history: h, inputs: ins, replay: history.NewReplayer(c.Client, ins, d, ingest.NewBudget(memory.Read), c.Report)}
	r.replay.Former = former
	return r, nil
}

func (r *retrace) close() { r.replay.Close() }

// decide decides a BATCH again. It returns nil for any other record.
func (r *retrace) decide(ctx context.Context, record modellog.Record) (*history.Decided, error) {
	if b, ok := record.(*modellog.Batch); ok {
		return r.replay.Decide(ctx, b)
	}
	return nil, nil
}

// apply applies a decision to the history; d is what decide returned for it. It returns nil for a
// record that is not a decision, and ErrVersion for an UPGRADE to versions that this program does
// not have.
func (r *retrace) apply(record modellog.Record, d *history.Decided) (*history.Publication, error) {
	h := r.history
	switch rec := record.(type) {
	case *modellog.Batch:
		out := h.Learn(rec.Seq, rec.Chain, d)
		r.config.Report(event.Learned{Seq: rec.Seq, Counts: rec.Counts, Progress: h.Progress()})
		return out, nil
	case *modellog.Gap:
		if err := r.replay.Skip(rec); err != nil {
			return nil, err
		}
		return h.Skip(rec), nil
	case *modellog.Upgrade:
		if rec.Versions != r.config.Versions() {
			return nil, fmt.Errorf("%w: from seq %d on, the history has %v, this program has %v", model.ErrVersion, rec.Seq, rec.Versions, r.config.Versions())
		}
		return h.Turned(rec), nil
	}
	return h.Turned(record), nil
}
