package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Verification is what a replay of the input topics by the model log found.
type Verification struct {
	Compared  int   `json:"compared"`  // snapshots whose state hash and lineage were computed again
	Divergent int   `json:"divergent"` // of them and of the challengers, those that came out otherwise
	FromSeq   int64 `json:"from_seq"`  // first BATCH replayed
	ToSeq     int64 `json:"to_seq"`    // last one
	Records   int64 `json:"records"`
	Lost      int64 `json:"lost"` // offsets in GAPs

	Challengers int `json:"challengers"` // that were solved for again, besides; not those whose input is gone

	StateHash snapshot.Hash `json:"state_hash"` // as of ToSeq
	Seconds   float64       `json:"seconds"`
}

// Divergence is a snapshot that the replay does not come to.
type Divergence struct {
	Seq, Step int64
	Want, Got snapshot.Hash // state hashes
	Lineage   bool          // the lineages differ
}

// Verify learns the history of a model again and compares the state with every
// snapshot on the way. It begins with the empty state; with the oldest snapshot
// that is still there, where the model log has lost its beginning; and with the
// oldest one behind which the input is still there, where that has lost its own.
// It writes nothing.
func Verify(ctx context.Context, c Config) (Verification, error) {
	start := time.Now()
	var v Verification
	options, err := c.options()
	if err != nil {
		return v, err
	}
	c.Keep = math.MaxInt
	j, err := openJournal(ctx, c, math.MaxInt)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return v, noLog(c.Model)
	}
	if err != nil {
		return v, err
	}
	if have := j.log.Fold.Config().Config; len(have) > 0 {
		if err := sameOptions(have, options); err != nil {
			return v, err
		}
	}
	err = fmt.Errorf("%w: the model log %q has neither its beginning nor a complete snapshot", ErrHistory, j.topic)
	for back := len(j.log.Fold.Snapshots()); back >= 0; back-- {
		from, ok := j.log.Fold.Recover(back)
		if !ok {
			continue
		}
		var lost *ingest.LostRange
		got, problem := verifyFrom(ctx, c, j, from, options)
		if problem == nil && (got.Compared > 0 || !errors.As(err, &lost)) {
			got.Seconds = time.Since(start).Seconds()
			return got, nil
		}
		if problem != nil {
			if err = problem; !errors.As(err, &lost) {
				return v, err
			}
		}
	}
	return v, err
}

// verifyFrom learns what from says again.
func verifyFrom(ctx context.Context, c Config, j *journal, from modellog.Recovery, options []byte) (v Verification, err error) {
	var h *history
	if from.Snapshot == nil {
		h, err = newHistory(c.Model, options, c.Learner)
	} else {
		var s *snapshot.Snapshot
		if s, err = loadSnapshot(ctx, c, j, *from.Snapshot); err == nil {
			h, err = thaw(s, c.Learner)
		}
	}
	if err != nil {
		return v, err
	}
	manifests := map[int64][]*modellog.Manifest{}
	for _, s := range j.log.Fold.Snapshots() {
		if from.Snapshot == nil || s.Offset > from.Snapshot.Offset {
			manifests[s.Manifest.Seq] = append(manifests[s.Manifest.Seq], s.Manifest)
		}
	}
	challengers := map[int64][]*modellog.Challenger{}
	for _, s := range j.log.Fold.Challengers() {
		challengers[s.Challenger.Seq] = append(challengers[s.Challenger.Seq], s.Challenger)
	}
	ins, err := openInputs(ctx, c.Client, c.Topics)
	if err != nil {
		return v, err
	}
	d, err := newDecider(c, h.schema)
	if err != nil {
		return v, err
	}
	v.FromSeq, v.ToSeq = h.seq+1, h.seq
	replay := newReplayer(c.Client, ins, d, c.Report)
	for _, e := range from.Entries {
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			decided, err := replay.decide(ctx, rec)
			if err != nil {
				return v, err
			}
			h.learn(rec.Seq, rec.Chain, decided)
			v.Records += int64(len(decided.items))
			c.Report(Learned{Seq: rec.Seq, Counts: rec.Counts, Progress: h.learner.Progress()})
		case *modellog.Gap:
			if err := replay.skip(rec); err != nil {
				return v, err
			}
			h.skip(rec)
			v.Lost += rec.To - rec.From
		default:
			continue
		}
		v.ToSeq = h.seq
		for _, m := range manifests[h.seq] {
			s, err := h.freeze(0)
			if err != nil {
				return v, err
			}
			v.Compared++
			if c.VerifyKey != nil {
				if err := m.Verify(c.VerifyKey); err != nil {
					return v, err
				}
			}
			if got := snapshot.StateHash(s.Schema, s.State); got != m.StateHash || s.Lineage != m.Lineage {
				v.Divergent++
				c.Report(Divergence{Seq: m.Seq, Step: m.Step, Want: m.StateHash, Got: got, Lineage: s.Lineage != m.Lineage})
			}
		}
		for _, m := range challengers[h.seq] {
			got, ok, err := h.again(ctx, c, ins, m)
			if err != nil {
				return v, err
			}
			if !ok {
				continue
			}
			v.Challengers++
			if c.VerifyKey != nil {
				if err := m.Verify(c.VerifyKey); err != nil {
					return v, err
				}
			}
			if got != m.StateHash || h.lineage != m.Lineage {
				v.Divergent++
				c.Report(Divergence{Seq: m.Seq, Step: m.Step, Want: m.StateHash, Got: got, Lineage: h.lineage != m.Lineage})
			}
		}
	}
	s, err := h.freeze(0)
	if err != nil {
		return v, err
	}
	v.StateHash = snapshot.StateHash(s.Schema, s.State)
	return v, nil
}

func noLog(model string) error {
	return fmt.Errorf("%w: there is no model log %q, so no learner of this model has run", ErrTopic, LogTopic(model))
}
