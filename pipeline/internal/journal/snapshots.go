package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Restore restores the history from the newest usable snapshot. It also returns the decisions that
// the log has after that snapshot.
func (j *Journal) Restore(ctx context.Context, c model.Config, options []byte) (*history.History, modellog.Recovery, error) {
	for back := 0; ; back++ {
		r, ok := j.Log.Fold.Recover(back)
		if !ok && !planted.Fault("shallow") { // there may be one further back
			if err := j.Tail(ctx, back+1); err != nil {
				return nil, r, err
			}
			r, ok = j.Log.Fold.Recover(back)
		}
		if !ok {
			return nil, r, fmt.Errorf("%w: the model log has snapshots, but none of them is usable", snapshot.ErrCorrupt)
		}
		if r.Snapshot == nil {
			h, err := history.New(c.Model, options, c.Learner)
			if err == nil {
				h.Seq, h.Chain = r.Seq, r.Chain
			}
			return h, r, err
		}
		start := time.Now()
		s, err := j.Load(ctx, *r.Snapshot)
		var h *history.History
		if err == nil {
			h, err = history.Thaw(s, c.Learner)
		}
		if err == nil {
			if t := r.Snapshot.Manifest.Timeline; t != nil {
				h.Timeline = *t.Clone()
			}
			c.Report(event.Restored{Seq: s.Seq, Step: s.Step, Bytes: int(r.Snapshot.Manifest.Size), Took: time.Since(start)})
			return h, r, nil
		}
		if ctx.Err() != nil || ingest.Temporary(err) || errors.Is(err, snapshot.ErrTooNew) {
			return nil, r, err
		}
		var gap *ingest.GapError
		if errors.As(err, &gap) && !planted.Fault("gone") { // a process that has claimed the log since may have deleted the snapshot
			if err := j.ReadOn(ctx, nil); err != nil {
				return nil, r, err
			}
			if err := j.fenced(); err != nil {
				return nil, r, err
			}
		}
		c.Report(event.Damaged{ID: r.Snapshot.Manifest.Snapshot.String(), Err: err})
		if planted.Fault("fallback") {
			h, err := history.New(c.Model, options, c.Learner)
			return h, modellog.Recovery{}, err
		}
	}
}

// Load reads the chunks of a snapshot, then verifies and decodes it.
func (j *Journal) Load(ctx context.Context, at modellog.Stored) (*snapshot.Snapshot, error) {
	if j.verify != nil {
		if err := at.Manifest.Verify(j.verify); err != nil {
			return nil, err
		}
	}
	chunks, err := j.Log.Chunks(ctx, at, len(at.Chunks))
	if err != nil {
		return nil, err
	}
	file, err := modellog.Assemble(at.Manifest, chunks, 0)
	if err != nil {
		return nil, err
	}
	return snapshot.Decode(file, 0)
}

// Save writes s to the log: first its chunks, and then the MANIFEST that completes it. Before the
// MANIFEST it waits for await, which returns once all predictions up to the seq of s are published.
// line is the timeline as of s, and verdict is the verdict of the gate.
func (j *Journal) Save(ctx context.Context, s *snapshot.Snapshot, line *timeline.Timeline, verdict *modellog.Gate, await func(context.Context, int64) error, c model.Config) (event.Saved, error) {
	file, err := snapshot.Append(nil, s)
	if err != nil {
		return event.Saved{}, err
	}
	chunks, m, err := modellog.Split(file, j.Owner, c.ChunkBytes)
	if err != nil {
		return event.Saved{}, err
	}
	m.Time, m.Timeline, m.Gate = time.Now().UnixMilli(), line, verdict
	for wait := new(ingest.Backoff); ; {
		for _, chunk := range chunks {
			if err := j.Append(ctx, chunk); err != nil {
				return event.Saved{}, err
			}
		}
		if !planted.Fault("manifest") {
			if err := await(ctx, s.Seq); err != nil {
				return event.Saved{}, err
			}
		}
		err := j.finish(ctx, m)
		if err == nil {
			break
		}
		if !errors.Is(err, errBroken) || planted.Fault("late") {
			return event.Saved{}, err
		}
		j.report(event.Retrying{Err: err})
		if err := wait.Pause(ctx, err); err != nil {
			return event.Saved{}, err
		}
	}
	if err := j.trim(ctx, c.History); err != nil {
		j.report(event.Retrying{Err: fmt.Errorf("delete old history: %w", err)})
	}
	return event.Saved{ID: m.Snapshot.String(), Seq: m.Seq, Step: m.Step, Bytes: len(file), StateHash: m.StateHash, Gate: m.Gate}, nil
}

// errBroken means that a delayed copy of the first chunk of an earlier snapshot was appended among
// the chunks of this snapshot, which is therefore void.
var errBroken = errors.New("a chunk of an earlier claim interrupts the snapshot")

func (j *Journal) finish(ctx context.Context, m *modellog.Manifest) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost != nil {
		return j.lost
	}
	if err := j.Log.Fold.Finish(m); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if err := j.appendLocked(ctx, nil, m); err != nil {
		return err
	}
	if newest := j.Log.Fold.Snapshots(); len(newest) == 0 || newest[0].Manifest.Snapshot != m.Snapshot {
		return errBroken
	}
	return nil
}

// trim deletes the history before the oldest snapshot that is kept if the log has
// more than limit bytes.
func (j *Journal) trim(ctx context.Context, limit int64) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	to := j.Log.Fold.Trim()
	over := j.Log.Size.Total > limit
	j.unlock()
	if !over || to == 0 {
		return nil
	}
	if err := j.client.DeleteRecords(ctx, j.Topic, 0, to); err != nil {
		return err
	}
	if err := j.lock(ctx); err != nil {
		return err
	}
	j.Log.Size.Drop(to)
	j.unlock()
	return nil
}
