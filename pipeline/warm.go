package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// warm is the model of a standby, which follows the model log without a claim.
type warm struct {
	history *history.History
	decider *history.Decider
	replay  *history.Replayer
	budget  budget
	memory  *bound
	reads   *ingest.Budget
	relearn time.Duration          // time spent learning since the newest snapshot
	waiting []*history.Publication // learned, but not known to be published
}

// thaw restores the newest snapshot. It looks up the inputs again, because an ADOPT may
// have replaced them.
func (s *standby) thaw(ctx context.Context) (*warm, error) {
	s.memory.restores(s.journal.Log.Fold)
	h, _, err := s.journal.Restore(ctx, s.config, s.options)
	if err != nil {
		return nil, err
	}
	ins, err := input.Open(ctx, s.config.Client, s.config.Topics)
	if err != nil {
		return nil, err
	}
	s.memory.has(h)
	h.Limits = s.limits
	d, err := newDecider(s.config, h)
	if err != nil {
		return nil, err
	}
	reads := ingest.NewBudget(memory.Read)
	return &warm{history: h, decider: d, memory: s.memory, reads: reads, replay: history.NewReplayer(s.config.Client, ins, d, reads, s.config.Report)}, nil
}

// errCold means that a warm history does not match the model log any more, or that the
// log has an UPGRADE that no snapshot covers.
var errCold = errors.New("the history was rolled back or upgraded")

// pending returns the newest snapshot in the log, with the decisions that w has not
// learned yet as its entries.
func (w *warm) pending(f *modellog.Fold) (modellog.Recovery, error) {
	newest, ok := f.Recover(0)
	if !ok {
		return newest, errCold
	}
	r := newest
	for back := 1; r.Snapshot != nil && r.Snapshot.Manifest.Seq > w.history.Seq; back++ {
		if r, ok = f.Recover(back); !ok {
			return r, errCold
		}
	}
	if chain, ok := f.ChainAt(w.history.Seq); w.history.Seq > 0 && (!ok || chain != w.history.Chain) {
		return r, errCold
	}
	newest.Entries = nil
	for _, e := range r.Entries {
		if _, upgrade := e.Record.(*modellog.Upgrade); upgrade {
			return r, errCold
		}
		if seq, _, ok := modellog.Decided(e.Record); ok && seq > w.history.Seq {
			newest.Entries = append(newest.Entries, e)
		}
	}
	return newest, nil
}

// follow learns the decisions in f that are new to w.
func (w *warm) follow(ctx context.Context, f *modellog.Fold) error {
	r, err := w.pending(f)
	if err != nil {
		return err
	}
	if r.Snapshot != nil && r.Snapshot.Manifest.Seq == w.history.Seq {
		w.relearn = 0
	}
	for _, e := range r.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			d, err := w.replay.Decide(ctx, rec)
			if err != nil {
				return err
			}
			w.memory.learns(d, w.reads)
			begin := time.Now()
			out := w.history.Learn(rec.Seq, rec.Chain, d)
			w.hold(out, r.Released)
			w.relearn += time.Since(begin)
			w.memory.learned(w.history, out)
			w.budget.spend(d.Items)
			if f.Resumed() == rec.Seq {
				w.budget = budget{}
			}
		case *modellog.Gap:
			if err := w.replay.Skip(rec); err != nil {
				return err
			}
			w.hold(w.history.Skip(rec), r.Released)
		case *modellog.Rollback, *modellog.Adopt:
			w.hold(w.history.Turned(rec), r.Released)
		}
	}
	w.published(r.Released)
	return nil
}

// hold keeps out until it is known to be published, as everything up to released is. A standby that
// catches up from a snapshot would otherwise hold all predictions since then.
func (w *warm) hold(out *history.Publication, released int64) {
	if out.Seq > released {
		w.waiting = append(w.waiting, out)
	}
}

// published drops what is known to be published: everything up to released.
func (w *warm) published(released int64) {
	for len(w.waiting) > 0 && w.waiting[0].Seq <= released {
		w.waiting[0] = nil
		w.waiting = w.waiting[1:]
	}
}
