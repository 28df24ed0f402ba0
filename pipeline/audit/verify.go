// Package audit reads the history of a model and learns it again: Verify holds each snapshot against
// a replay, Prove finds the origin of a prediction, and Rebuild learns a model without some records.
// Inspect and Snapshot read the model log alone. None of them changes the history that it reads.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/challenger"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Verification is the result of replaying the input topics according to the model log.
type Verification struct {
	Compared  int   `json:"compared"`  // snapshots compared by state hash and lineage
	Divergent int   `json:"divergent"` // snapshots and challengers that differ
	FromSeq   int64 `json:"from_seq"`  // first BATCH replayed
	ToSeq     int64 `json:"to_seq"`    // last one
	Records   int64 `json:"records"`
	Lost      int64 `json:"lost"` // offsets in GAPs

	Start *Started `json:"start,omitempty"` // nil: the model began with the empty state at the first records

	Challengers int `json:"challengers"` // challengers that were solved for again; those whose input is gone are not counted

	Abandoned []modellog.Abandoned `json:"abandoned,omitempty"` // ranges of seqs before a ROLLBACK
	Stretches []Stretch            `json:"stretches,omitempty"` // parts of the history in the log, by version
	Unread    []Unread             `json:"unread,omitempty"`    // what could not be replayed
	Unreached string               `json:"unreached,omitempty"` // why the newest MANIFEST was not verified

	StateHash snapshot.Hash `json:"state_hash"` // as of ToSeq
	Seconds   float64       `json:"seconds"`
}

// Divergence reports a snapshot or challenger that the replay does not reproduce.
type Divergence struct {
	Seq, Step int64
	Want, Got snapshot.Hash // state hashes
	Lineage   bool          // the lineages differ
}

// Verify replays the history of a model and compares the state with every snapshot on the way. It
// begins with the empty state. If the beginning of the model log is gone, it begins with the oldest
// snapshot. If the beginning of the input is gone, it begins with the oldest snapshot after which
// the input is complete. It omits what programs of other versions have decided. It writes nothing.
func Verify(ctx context.Context, c model.Config) (Verification, error) {
	c = c.Quiet()
	start := time.Now()
	var v Verification
	options, err := c.Options()
	if err != nil {
		return v, err
	}
	c.Keep = math.MaxInt
	newest := new(newestManifest)
	j, err := journal.OpenComplete(ctx, c, newest.see)
	if err != nil {
		return v, err
	}
	f := j.Log.Fold
	if have := f.Config().Config; len(have) > 0 {
		if options, err = c.KeepReading(have); err != nil {
			return v, err
		}
		if err := model.SameOptions(have, options); err != nil {
			return v, err
		}
	}
	if _, err := j.Outlived(ctx, c); err != nil { // otherwise only a part of the history would be verified
		return v, err
	}
	v.Abandoned, v.Stretches = f.Abandoned(), stretches(f)
	err = fmt.Errorf("%w: the model log %q has neither its beginning nor a complete snapshot", input.ErrHistory, j.Topic)
	begun := false
	for back := len(f.Snapshots()); back >= 0; back-- {
		from, ok := f.Recover(back)
		if !ok || !decided(c, from) || begun && from.Seq < v.ToSeq {
			continue
		}
		got, problem := verifyFrom(ctx, c, j, from, options)
		if problem != nil && !gone(problem) {
			return v, problem
		}
		if problem == nil && begun && got.ToSeq == v.ToSeq {
			break
		}
		if got.Compared > 0 || problem == nil && !gone(err) {
			if !begun {
				v.FromSeq = got.FromSeq
			}
			v.add(got, c.Versions())
			v.resume(from.Seq)
			begun = true
		}
		if problem != nil {
			err = problem
			v.pause(got.ToSeq+1, problem)
		}
	}
	v.resume(f.Seq())
	v.Seconds = time.Since(start).Seconds()
	if !begun && len(v.Stretches) > 0 && !slices.ContainsFunc(v.Stretches, func(s Stretch) bool { return s.Versions == c.Versions() }) {
		return v, fmt.Errorf("%w: all of the history in %q has %v, this program has %v: verify it with a program of that version", model.ErrVersion, j.Topic, v.Stretches[len(v.Stretches)-1].Versions, c.Versions())
	}
	if !begun {
		return v, err
	}
	v.Unreached = newest.unreached(f, v.ToSeq)
	return v, v.began(ctx, c, f, options)
}

// add adds the result of a replay of a part of the history by a program with the versions by.
func (v *Verification) add(got Verification, by modellog.Versions) {
	v.Compared += got.Compared
	v.Divergent += got.Divergent
	v.Records += got.Records
	v.Lost += got.Lost
	v.Challengers += got.Challengers
	v.ToSeq, v.StateHash = got.ToSeq, got.StateHash
	for i := range v.Stretches {
		if s := &v.Stretches[i]; s.Versions == by && s.FromSeq <= got.ToSeq && got.FromSeq <= s.ToSeq {
			s.Verified = true
		}
	}
}

// verifyFrom replays the history in from.
func verifyFrom(ctx context.Context, c model.Config, j *journal.Journal, from modellog.Recovery, options []byte) (v Verification, err error) {
	r, err := openRetrace(ctx, c, j, from, options)
	if err != nil {
		return v, err
	}
	defer r.close()
	h := r.history
	manifests := map[int64][]*modellog.Manifest{}
	for _, s := range j.Log.Fold.Snapshots() {
		if from.Snapshot == nil || s.Offset > from.Snapshot.Offset {
			manifests[s.Manifest.Seq] = append(manifests[s.Manifest.Seq], s.Manifest)
		}
	}
	challengers := map[int64][]*modellog.Challenger{}
	for _, s := range j.Log.Fold.Challengers() {
		challengers[s.Challenger.Seq] = append(challengers[s.Challenger.Seq], s.Challenger)
	}
	v.FromSeq, v.ToSeq = h.Seq+1, h.Seq
	c.Report(event.Verifying{FromSeq: v.FromSeq, ToSeq: j.Log.Fold.Seq()})
	defer func() {
		if gone(err) && v.Compared > 0 { // the result covers the decisions before
			err = errors.Join(err, v.finish(h))
		}
	}()
	for _, e := range from.Entries {
		decided, err := r.decide(ctx, e.Record)
		if err != nil {
			return v, err
		}
		out, err := r.apply(e.Record, decided)
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			v.Records += int64(len(decided.Items))
		case *modellog.Gap:
			v.Lost += rec.To - rec.From
		}
		if errors.Is(err, model.ErrVersion) {
			return v, v.finish(h)
		}
		if err != nil {
			return v, err
		}
		if out == nil {
			continue
		}
		v.ToSeq = h.Seq
		if err := v.compare(c, h, manifests[h.Seq]); err != nil {
			return v, err
		}
		if err := v.solve(ctx, c, h, r.inputs, challengers[h.Seq]); err != nil {
			return v, err
		}
	}
	return v, v.finish(h)
}

// begin returns the history that a replay of from begins with.
func begin(ctx context.Context, c model.Config, j *journal.Journal, from modellog.Recovery, options []byte) (*history.History, error) {
	if from.Snapshot == nil {
		h, err := history.New(c.Model, options, c.Learner)
		if err == nil {
			h.Seq, h.Chain = from.Seq, from.Chain
		}
		return h, err
	}
	s, err := j.Load(ctx, *from.Snapshot)
	if err != nil {
		return nil, err
	}
	return history.Thaw(s, c.Learner)
}

// compare compares the current state of h with the snapshots taken at its seq.
func (v *Verification) compare(c model.Config, h *history.History, taken []*modellog.Manifest) error {
	for _, m := range taken {
		s, err := h.Freeze(0)
		if err != nil {
			return err
		}
		v.Compared++
		if err := v.differs(c, m, m, snapshot.StateHash(s.Schema, s.State), s.Lineage); err != nil {
			return err
		}
	}
	return nil
}

// solve solves for the challengers again and compares their state hashes.
func (v *Verification) solve(ctx context.Context, c model.Config, h *history.History, ins input.Partitions, challengers []*modellog.Challenger) error {
	for _, m := range challengers {
		got, ok, err := challenger.Again(ctx, c, h, ins, m)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v.Challengers++
		if err := v.differs(c, m, &m.Manifest, got, h.Lineage); err != nil {
			return err
		}
	}
	return nil
}

// differs counts and reports m if its state or lineage differs. It returns an error if
// the signature of the record that holds m is invalid.
func (v *Verification) differs(c model.Config, record modellog.Record, m *modellog.Manifest, got, lineage snapshot.Hash) error {
	if c.VerifyKey != nil {
		if err := modellog.Verify(record, c.VerifyKey); err != nil {
			return err
		}
	}
	if got != m.StateHash || lineage != m.Lineage {
		v.Divergent++
		c.Report(Divergence{Seq: m.Seq, Step: m.Step, Want: m.StateHash, Got: got, Lineage: lineage != m.Lineage})
	}
	return nil
}

// finish sets the state hash to that of h.
func (v *Verification) finish(h *history.History) error {
	s, err := h.Freeze(0)
	if err == nil {
		v.StateHash = snapshot.StateHash(s.Schema, s.State)
	}
	return err
}
