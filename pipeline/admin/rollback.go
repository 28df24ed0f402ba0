// Package admin changes the history of a model, or copies it: Rollback, Adopt and Resume write
// decisions to the model log, Serve chooses the snapshot that scorers serve, and Export and Import
// copy a history by way of a file.
package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// RollbackTo is the target of a rollback. The zero value is the end of what the log
// still holds.
type RollbackTo struct {
	Step   *int64    // the newest snapshot of this or an earlier step; nil: not by step
	Seq    *int64    // the decision with this sequence number; nil: not by seq
	Before time.Time // the last decision before this time; zero: not by time
	Reason string    // for the log
}

// RollbackReport is the result of a rollback.
type RollbackReport struct {
	Record    *modellog.Rollback   // nil if there was nothing to roll back
	Abandoned []modellog.Abandoned // all abandoned ranges of the history
}

// ErrNowhere means that the model log does not hold the target of a rollback.
var ErrNowhere = errors.New("nothing to roll back to")

// Rollback makes the history of a model continue from an earlier seq, or from the end
// of a broken log. It claims the log, which fences a running learner, and appends a
// ROLLBACK. The seq of the ROLLBACK is higher than any in the log or the outputs.
func Rollback(ctx context.Context, c model.Config, to RollbackTo) (RollbackReport, error) {
	c = c.Quiet()
	keep := c.Keep
	c.Keep = math.MaxInt
	j, err := journal.Tolerant(ctx, c)
	if err != nil {
		return RollbackReport{}, err
	}
	if err := j.Trusted(c); err != nil {
		return RollbackReport{}, err
	}
	first, _, err := j.Log.Bounds(ctx)
	if err != nil {
		return RollbackReport{}, err
	}
	times := map[int64]int64{} // timestamps of all records, by offset
	see := func(r *ingest.Record, _ modellog.Verdict) { times[r.Offset] = r.Time }
	j.Log.Rewind(first)
	if err := j.ReadOn(ctx, see); err != nil {
		return RollbackReport{}, err
	}
	out, err := j.Published(ctx, c, j.Log.Fold.Released())
	if err != nil {
		return RollbackReport{}, err
	}
	if err := j.ReadOn(ctx, see); err != nil { // to read every BATCH whose predictions Published has seen
		return RollbackReport{}, err
	}
	if err := j.Trusted(c); err != nil {
		return RollbackReport{}, err
	}
	if err := j.Complete(); err != nil {
		return RollbackReport{}, err
	}
	f := j.Log.Fold
	if f.Claim().Epoch == 0 {
		return RollbackReport{}, fmt.Errorf("%w: the model log %q is empty; restore it from an export with accrete import, or start a new model with accrete learn --new-model", ErrNowhere, j.Topic)
	}
	seq, reason, err := to.find(f, times)
	if err != nil {
		return RollbackReport{}, fmt.Errorf("%w in %q", err, j.Topic)
	}
	highest := max(f.Seq(), f.Highest(), out.Seq)
	broken := f.Broken()
	if seq == f.Seq() && highest == f.Seq() && broken == nil {
		return RollbackReport{Abandoned: f.Abandoned()}, nil
	}
	if broken != nil && to.Reason == "" {
		reason = broken.Error()
	}
	if err := hold(ctx, j, seq, keep, c.History); err != nil {
		return RollbackReport{}, err
	}
	return rollback(ctx, j, seq, highest, reason[:min(len(reason), 512)])
}

// settle is the time that a request to delete old history, sent by a learner that was then fenced,
// may take to arrive.
const settle = 2 * time.Second

// hold claims the log, and returns when no other learner can delete the history at seq any more. If
// one has deleted it since the log was read, hold returns ErrNowhere, because a ROLLBACK to seq
// would leave a log without a usable beginning. keep and limit are Config.Keep and Config.History
// of the learner.
func hold(ctx context.Context, j *journal.Journal, seq int64, keep int, limit int64) error {
	v, ok := j.Log.Fold.VersionsAt(seq)
	if !ok {
		return fmt.Errorf("%w: seq %d is no longer in %q", ErrNowhere, seq, j.Topic)
	}
	if err := j.Claim(ctx, v, nil); err != nil {
		return err
	}
	kept := j.Log.Fold.Snapshots()
	at := slices.IndexFunc(kept, func(s modellog.Stored) bool { return s.Manifest.Seq <= seq })
	if (at < 0 || at >= keep) && j.Log.Size.Total > limit {
		select {
		case <-time.After(settle):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	begin, _, err := j.Log.Bounds(ctx)
	if err != nil {
		return err
	}
	if begin > 0 && (at < 0 || kept[at].Manifest.Start.Offset < begin) {
		return fmt.Errorf("%w: a learner has deleted the history at seq %d from %q in the meantime", ErrNowhere, seq, j.Topic)
	}
	return nil
}

// rollback appends a claim and a ROLLBACK to seq in one batch.
func rollback(ctx context.Context, j *journal.Journal, seq, highest int64, reason string) (RollbackReport, error) {
	for {
		f := j.Log.Fold
		chain, known := f.ChainAt(seq)
		v, ok := f.VersionsAt(seq)
		if !known || !ok {
			return RollbackReport{}, fmt.Errorf("%w: seq %d is no longer in %q", ErrNowhere, seq, j.Topic)
		}
		var r *modellog.Rollback
		err := j.Claim(ctx, v, func(o modellog.Owner) []modellog.Record {
			f := j.Log.Fold
			if planted.Fault("reuse") {
				highest = f.Seq()
			}
			r = &modellog.Rollback{
				Owner: o, Seq: max(highest, f.Seq(), f.Highest()) + 1,
				ToSeq: seq, ToChain: chain, Reason: reason, By: journal.Host(),
			}
			r.Chain = modellog.NextChain(f.Chain(), r)
			return []modellog.Record{r}
		})
		if err != nil {
			return RollbackReport{}, err
		}
		if f := j.Log.Fold; f.Seq() == r.Seq && f.Chain() == r.Chain {
			return RollbackReport{Record: r, Abandoned: f.Abandoned()}, nil
		}
	}
}

// find returns the seq of the target, and the reason to write to the log.
func (to RollbackTo) find(f *modellog.Fold, times map[int64]int64) (seq int64, reason string, err error) {
	reason = to.Reason
	switch {
	case to.Step != nil:
		for _, s := range f.Snapshots() {
			if s.Manifest.Step <= *to.Step {
				return s.Manifest.Seq, cmp.Or(reason, fmt.Sprintf("to step %d", s.Manifest.Step)), nil
			}
		}
		if *to.Step == 0 {
			if from, ok := f.Recover(len(f.Snapshots())); ok {
				return from.Seq, cmp.Or(reason, "to the beginning of the history"), nil
			}
		}
		return 0, "", fmt.Errorf("%w: there is no snapshot at or before step %d", ErrNowhere, *to.Step)
	case to.Seq != nil:
		from, ok := f.Oldest()
		if !ok {
			return 0, "", fmt.Errorf("%w: there is no snapshot", ErrNowhere)
		}
		found := from.Seq == *to.Seq
		for _, e := range from.Entries {
			s, _, ok := modellog.Decided(e.Record)
			found = found || ok && s == *to.Seq
		}
		if !found {
			return 0, "", fmt.Errorf("%w: seq %d was abandoned by a rollback, is older than the oldest snapshot, or was never decided", ErrNowhere, *to.Seq)
		}
		return *to.Seq, cmp.Or(reason, fmt.Sprintf("to seq %d", *to.Seq)), nil
	case !to.Before.IsZero():
		from, ok := f.Oldest()
		if !ok {
			return 0, "", fmt.Errorf("%w: there is no snapshot", ErrNowhere)
		}
		seq = from.Seq
		// What a snapshot holds was decided before its MANIFEST, and before any later
		// decision.
		earlier := from.Snapshot != nil && times[from.Snapshot.Offset] < to.Before.UnixMilli()
		for _, e := range from.Entries {
			if s, _, ok := modellog.Decided(e.Record); ok && times[e.Offset] < to.Before.UnixMilli() {
				seq, earlier = s, true
			}
		}
		switch {
		case !earlier && from.Snapshot == nil: // a wrong year would otherwise abandon everything
			return 0, "", fmt.Errorf("%w: there is no decision before %v (--to-seq %d goes back to the beginning)", ErrNowhere, to.Before, from.Seq)
		case !earlier:
			return 0, "", fmt.Errorf("%w: there is no snapshot before %v", ErrNowhere, to.Before)
		}
		return seq, cmp.Or(reason, fmt.Sprintf("to before %v", to.Before.UTC().Format(time.RFC3339))), nil
	}
	return f.Seq(), cmp.Or(reason, "to the end of the records that remain"), nil
}
