package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
)

// Verification is what a replay of the input topics by the model log found.
type Verification struct {
	Compared  int   `json:"compared"`  // snapshots whose state hash and lineage were computed again
	Divergent int   `json:"divergent"` // of them, those that came out otherwise
	FromSeq   int64 `json:"from_seq"`  // first BATCH replayed
	ToSeq     int64 `json:"to_seq"`    // last one
	Records   int64 `json:"records"`

	StateHash snapshot.Hash `json:"state_hash"` // as of ToSeq
	Seconds   float64       `json:"seconds"`
}

// Divergence is a snapshot that the replay does not come to.
type Divergence struct {
	Seq, Step int64
	Want, Got snapshot.Hash // state hashes
	Lineage   bool          // the lineages differ
}

// Verify learns the history of a model again, from the empty state or the
// oldest snapshot that is still there, and compares the state with every
// snapshot on the way. It writes nothing.
func Verify(ctx context.Context, c Config) (Verification, error) {
	start := time.Now()
	var v Verification
	options, err := c.options()
	if err != nil {
		return v, err
	}
	c.Keep = math.MaxInt
	j, err := openJournal(ctx, c)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return v, fmt.Errorf("%w: there is no model log %q, so no learner of this model has run", ErrTopic, LogTopic(c.Model))
	}
	if err != nil {
		return v, err
	}
	snapshots := j.fold.Snapshots()
	r, ok := j.fold.Recover(len(snapshots))
	if !ok && len(snapshots) > 0 {
		r, ok = j.fold.Recover(len(snapshots) - 1)
	}
	if !ok {
		return v, fmt.Errorf("%w: the model log %q has neither its beginning nor a complete snapshot", ErrHistory, j.topic)
	}
	if have := j.fold.Config().Config; len(have) > 0 {
		if err := sameOptions(have, options); err != nil {
			return v, err
		}
	}
	var h *history
	if r.Snapshot == nil {
		h, err = newHistory(c.Model, options, c.Learner)
	} else {
		var s *snapshot.Snapshot
		if s, err = loadSnapshot(ctx, c.Client, j.topic, *r.Snapshot, c.Report); err == nil {
			h, err = thaw(s, c.Learner)
		}
	}
	if err != nil {
		return v, err
	}
	manifests := map[int64][]*snapshot.Manifest{}
	for _, s := range snapshots {
		if r.Snapshot == nil || s.Offset != r.Snapshot.Offset {
			manifests[s.Manifest.Seq] = append(manifests[s.Manifest.Seq], s.Manifest)
		}
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
	for _, e := range r.Entries {
		b, ok := e.Record.(*snapshot.Batch)
		if !ok {
			continue
		}
		decided, err := replay.decide(ctx, b)
		if err != nil {
			return v, err
		}
		h.learn(b.Seq, b.Chain, decided)
		v.ToSeq = b.Seq
		v.Records += int64(len(decided.items))
		c.Report(Learned{Seq: b.Seq, Counts: b.Counts, Progress: h.learner.Progress()})
		for _, m := range manifests[b.Seq] {
			s, err := h.freeze(0)
			if err != nil {
				return v, err
			}
			v.Compared++
			if got := snapshot.StateHash(s.Schema, s.State); got != m.StateHash || s.Lineage != m.Lineage {
				v.Divergent++
				c.Report(Divergence{Seq: m.Seq, Step: m.Step, Want: m.StateHash, Got: got, Lineage: s.Lineage != m.Lineage})
			}
		}
	}
	s, err := h.freeze(0)
	if err != nil {
		return v, err
	}
	v.StateHash = snapshot.StateHash(s.Schema, s.State)
	v.Seconds = time.Since(start).Seconds()
	return v, nil
}
