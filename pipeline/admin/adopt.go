package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/mirror"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrAdopt means that it cannot be determined where a new topic continues the topic that a model
// has learned from.
var ErrAdopt = mirror.Err

// Adoption selects the input topics to replace, and the position in the new ones.
type Adoption struct {
	Topics  map[string]string // new name of each topic to replace; empty: replace every topic that is not the one learned from
	At      AdoptAt
	Offsets map[int32]int64 // next offset by partition; overrides At, for a single topic
	Reason  string          // for the log
	DryRun  bool            // write nothing
}

// AdoptAt selects the position in a new topic.
type AdoptAt int

const (
	AtFingerprint AdoptAt = iota // after the record that was decided last
	AtEarliest                   // at the first record
	AtEnd                        // after the last record
)

// AdoptReport is the result of an adoption.
type AdoptReport struct {
	Record   *modellog.Adopt    // nil if no topic differs; without seq and chain after a dry run
	Rollback *modellog.Rollback // before Record; nil if there was nothing to roll back
	ToSeq    int64              // seq of the decision after which the new topics are read
}

// Adopt makes a model continue from input topics that hold the same records under
// other ids, names or offsets: topics that were recreated, or mirrored to another
// cluster. It claims the log, which fences a running learner, and appends an ADOPT.
// Decisions that no snapshot covers and that can no longer be replayed, because their
// records are in a replaced topic, are rolled back: the learner learns those records
// again from the new topic.
func Adopt(ctx context.Context, c model.Config, a Adoption) (AdoptReport, error) {
	c = c.Quiet()
	keep := c.Keep
	c.Keep = math.MaxInt
	j, err := journal.OpenComplete(ctx, c, nil)
	if err != nil {
		return AdoptReport{}, err
	}
	if err := j.Trusted(c); err != nil {
		return AdoptReport{}, err
	}
	if _, err := j.Outlived(ctx, c); err != nil {
		return AdoptReport{}, err
	}
	p, err := planAdoption(ctx, j, c, a)
	if err != nil || len(p.inputs) == 0 {
		return AdoptReport{}, err
	}
	if a.DryRun {
		return AdoptReport{Record: &modellog.Adopt{Inputs: p.inputs, Reason: a.Reason, By: journal.Host()}, ToSeq: p.to}, nil
	}
	return write(ctx, j, p, a.Reason, keep, c.History)
}

// adoption is the plan of an adoption.
type adoption struct {
	to     int64 // seq of the last decision that is kept
	inputs []modellog.Adopted
}

// planAdoption finds out which topics to replace, which decisions to keep, and where
// to continue in the new topics.
func planAdoption(ctx context.Context, j *journal.Journal, c model.Config, a Adoption) (p adoption, err error) {
	f := j.Log.Fold
	reached, from, err := newestPositions(ctx, j, c)
	if err != nil {
		return p, err
	}
	if len(reached) == 0 {
		return p, fmt.Errorf("%w: no snapshot in %q has a position in an input topic; start again with accrete rollback --to 0, then start the learner", ErrAdopt, j.Topic)
	}
	replaced, err := a.replaced(ctx, c, reached, from)
	if err != nil || len(replaced) == 0 {
		return p, err
	}
	h := &history.History{Reached: reached}
	p.to = from.Seq
	for _, e := range from.Entries {
		if needs(e.Record, replaced) {
			break
		}
		if r, ok := e.Record.(*modellog.Adopt); ok {
			h.Adopt(r)
		}
		if seq, _, ok := modellog.Decided(e.Record); ok {
			p.to = seq
		}
	}
	if len(a.Offsets) > 0 && len(replaced) > 1 {
		return p, fmt.Errorf("%w: offsets by partition apply to one topic, but %d topics differ: select one with --topic", ErrAdopt, len(replaced))
	}
	for topic, now := range replaced {
		m := mirror.Topic{Client: c.Client, Was: topic, Now: now, Decided: mirror.Decided(f, p.to), Report: c.Report}
		in, err := m.Adopted(ctx, mirror.Start{Earliest: a.At == AtEarliest, End: a.At == AtEnd, Offsets: a.Offsets}, h.Reached)
		if err != nil {
			return p, err
		}
		p.inputs = append(p.inputs, in)
	}
	slices.SortFunc(p.inputs, func(a, b modellog.Adopted) int {
		return input.Compare(&input.Partition{Topic: a.Topic}, &input.Partition{Topic: b.Topic})
	})
	return p, nil
}

// newestPositions returns the positions of the newest usable snapshot.
func newestPositions(ctx context.Context, j *journal.Journal, c model.Config) ([]snapshot.Position, modellog.Recovery, error) {
	for back := 0; ; back++ {
		r, ok := j.Log.Fold.Recover(back)
		if !ok {
			return nil, r, fmt.Errorf("%w: the model log has snapshots, but none of them is usable", snapshot.ErrCorrupt)
		}
		if r.Snapshot == nil {
			return nil, r, nil
		}
		s, err := j.Load(ctx, *r.Snapshot)
		if err == nil {
			return s.Positions, r, nil
		}
		if ctx.Err() != nil || ingest.Temporary(err) || errors.Is(err, snapshot.ErrTooNew) {
			return nil, r, err
		}
		c.Report(event.Damaged{ID: r.Snapshot.Manifest.Snapshot.String(), Err: err})
	}
}

// replaced returns the new name of each topic to replace.
func (a Adoption) replaced(ctx context.Context, c model.Config, reached []snapshot.Position, from modellog.Recovery) (map[string]string, error) {
	h := &history.History{Reached: slices.Clone(reached)} // positions, in the topics that are read now
	for _, e := range from.Entries {
		if r, ok := e.Record.(*modellog.Adopt); ok {
			h.Adopt(r)
		}
	}
	out := map[string]string{}
	for old, now := range a.Topics {
		if !slices.ContainsFunc(h.Reached, func(p snapshot.Position) bool { return p.Topic == old }) {
			return nil, fmt.Errorf("%w: the model has not learned from a topic %q", ErrAdopt, old)
		}
		if now = cmp.Or(now, old); now != old && slices.ContainsFunc(h.Reached, func(p snapshot.Position) bool { return p.Topic == now }) {
			return nil, fmt.Errorf("%w: the model has already learned from %q, so it cannot replace %q", ErrAdopt, now, old)
		}
		out[old] = now
	}
	if len(a.Topics) > 0 {
		return out, nil
	}
	for _, p := range h.Reached {
		differs, err := differsFrom(ctx, c, p)
		if err != nil {
			return nil, err
		}
		if differs {
			out[p.Topic] = p.Topic
		}
	}
	return out, nil
}

// differsFrom reports whether the partition of p is not the one that was learned from.
func differsFrom(ctx context.Context, c model.Config, p snapshot.Position) (bool, error) {
	id, n, err := c.Client.Partitions(ctx, p.Topic)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return false, fmt.Errorf("%w: topic %q does not exist: name the topic that replaces it (--topic %s=NEW)", ErrAdopt, p.Topic, p.Topic)
	}
	if err != nil {
		return false, err
	}
	if !ingest.SameTopic(id, p.TopicID) || int(p.Partition) >= n {
		return true, nil
	}
	first, end, err := input.Offsets(ctx, c.Client, p.Topic, c.Report)
	if err != nil || p.Next > end[p.Partition] {
		return true, err
	}
	in := &input.Partition{Topic: p.Topic, ID: id, Partition: p.Partition}
	if p.Next > first[p.Partition] {
		err = in.Recognise(ctx, c.Client, p, first[p.Partition], c.Report)
	}
	if errors.Is(err, input.ErrHistory) {
		return true, nil
	}
	return false, err
}

// needs reports whether a replay of r reads one of the topics.
func needs(r modellog.Record, topics map[string]string) bool {
	switch r := r.(type) {
	case *modellog.Batch:
		return slices.ContainsFunc(r.Ranges, func(rg modellog.Range) bool { return topics[rg.Topic] != "" })
	case *modellog.Gap:
		return topics[r.Topic] != ""
	}
	return false
}

// write claims the log and appends an ADOPT. If the log has decisions after the last one that is
// kept, it first appends a ROLLBACK to that one.
func write(ctx context.Context, j *journal.Journal, p adoption, reason string, keep int, limit int64) (AdoptReport, error) {
	if err := hold(ctx, j, p.to, keep, limit); err != nil { // claim first, so that no BATCH of another learner comes in between
		return AdoptReport{}, err
	}
	f := j.Log.Fold
	out := AdoptReport{ToSeq: p.to}
	seq, chain := f.Seq(), f.Chain()
	var rs []modellog.Record
	if seq > p.to {
		to, ok := f.ChainAt(p.to)
		if !ok {
			return AdoptReport{}, fmt.Errorf("%w: seq %d is no longer in %q", ErrNowhere, p.to, j.Topic)
		}
		why := fmt.Sprintf("the records of the decisions after seq %d are in a topic that was replaced", p.to)
		r := &modellog.Rollback{Owner: j.Owner, Seq: max(seq, f.Highest()) + 1, ToSeq: p.to, ToChain: to, Reason: why, By: journal.Host()}
		r.Chain = modellog.NextChain(chain, r)
		seq, chain = r.Seq, r.Chain
		out.Rollback, rs = r, append(rs, r)
	}
	out.Record = &modellog.Adopt{Owner: j.Owner, Seq: seq + 1, Inputs: p.inputs, Reason: reason, By: journal.Host()}
	out.Record.Chain = modellog.NextChain(chain, out.Record)
	if err := j.Append(ctx, append(rs, out.Record)...); err != nil {
		return AdoptReport{}, err
	}
	if got, ok := j.Log.Fold.ChainAt(out.Record.Seq); !ok || got != out.Record.Chain {
		return AdoptReport{}, fmt.Errorf("%w: the ADOPT record in %q is void", ErrAdopt, j.Topic)
	}
	return out, nil
}
