package audit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Rebuilt is the result of learning a history again without some of its records.
type Rebuilt struct {
	Model   string   `json:"model"`
	As      string   `json:"as,omitempty"` // the new model; "": none was written
	Without []string `json:"without"`
	Seq     int64    `json:"seq"` // seq up to which the history of the model was learned again

	Records int64 `json:"records"` // in the history
	Removed int64 `json:"removed"`

	Difference Difference `json:"difference"`

	Step      int64         `json:"step"`
	StateHash snapshot.Hash `json:"state_hash"` // state of the rebuilt model
	Was       snapshot.Hash `json:"was"`        // state of the model with all records
}

// Rebuild learns the history of a model again, without the records that one of the filters
// describes, and compares the predictions of all other records. Unless as is empty, it begins a
// model of this name with the result, which continues where the history ends. The state of that
// model is the state of a learner that has never seen the records left out.
func Rebuild(ctx context.Context, c model.Config, without []string, as string) (Rebuilt, error) {
	c = c.Quiet()
	c.Keep = math.MaxInt
	r := Rebuilt{Model: c.Model, As: as, Without: without}
	if len(without) == 0 {
		return r, fmt.Errorf("%w: no records to leave out", model.ErrStart)
	}
	if as == c.Model {
		return r, fmt.Errorf("%w: a model cannot replace itself: give the new one another name", model.ErrStart)
	}
	var j *journal.Journal
	next := c
	next.Model = as
	if as != "" {
		ins, err := input.Open(ctx, c.Client, c.Topics)
		if err != nil {
			return r, err
		}
		if err := journal.Create(ctx, next, len(ins)); err != nil {
			return r, err
		}
		if j, err = journal.Tolerant(ctx, next); err != nil {
			return r, err
		}
		if err := j.Tail(ctx, 1); err != nil {
			return r, err
		}
		if f := j.Log.Fold; f.Claim().Epoch > 0 && (f.Genesis().Import == 0 || f.Genesis().Start == nil) {
			return r, fmt.Errorf("%w: the model %q exists: delete its topics or choose another name", model.ErrStart, as)
		}
	}
	l, err := relearn(ctx, c, without, math.MaxInt64)
	if err != nil {
		return r, err
	}
	r.Records, r.Removed, r.Difference, r.Seq = l.records, l.removed, l.difference.mean(), l.with.Seq
	// The positions are those with all records: the new model reads on where the topics have these, and
	// the record before a position may be one that was left out.
	how, err := journal.Describe(modellog.Start{Kind: modellog.StartRebuild, Name: c.Model, Seq: l.with.Seq, Chain: l.with.Chain, Without: without, Positions: l.with.Reached}, l.without)
	if err != nil {
		return r, err
	}
	was, err := journal.Describe(modellog.Start{}, l.with)
	if err != nil {
		return r, err
	}
	r.Step, r.StateHash, r.Was = how.Step, how.StateHash, was.StateHash
	if j == nil {
		return r, nil
	}
	if f := j.Log.Fold; f.Claim().Epoch > 0 && !f.Genesis().Start.Is(how) {
		return r, fmt.Errorf("%w: %q has the interrupted beginning of another rebuild, with %v: delete the topic", model.ErrStart, j.Topic, f.Genesis().Start)
	}
	return r, j.Start(ctx, next, l.options, l.without, how)
}

// relearned is a history that was learned twice, with and without some records.
type relearned struct {
	options          []byte
	with, without    *history.History
	records, removed int64
	difference       difference
}

// relearn learns the history of c twice, with and without the records, from its beginning up to the
// seq to.
func relearn(ctx context.Context, c model.Config, without []string, to int64) (*relearned, error) {
	filters, err := ParseFilters(without)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrStart, err)
	}
	j, err := journal.OpenComplete(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	l := new(relearned)
	if l.options, err = recorded(&c, j); err != nil {
		return nil, err
	}
	from, err := wholeHistory(c, j)
	if err != nil {
		return nil, err
	}
	r, err := openRetrace(ctx, c, j, from, l.options)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if l.without, err = begin(ctx, c, j, from, l.options); err != nil {
		return nil, err
	}
	l.with = r.history
	d, err := history.NewDecider(c.Decode, c.Learner.Keyed(), l.without.Schema)
	if err != nil {
		return nil, err
	}
	d.Enrich(l.without)
	drop := func(topic string, partition int32, r *ingest.Record) bool {
		for _, f := range filters {
			if f.Match(topic, partition, r) {
				return true
			}
		}
		return false
	}
	l.with.Witness, l.without.Witness = l.difference.with, l.difference.without
	l.with.Settled, l.without.Settled = l.difference.settledWith, l.difference.settledWithout
	for _, e := range from.Entries {
		decided, err := r.decide(ctx, e.Record)
		if err != nil {
			return nil, err
		}
		if _, err := r.apply(e.Record, decided); err != nil {
			return nil, err
		}
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			rest, n := d.Without(decided, drop)
			l.records, l.removed = l.records+int64(len(decided.Items)), l.removed+n
			l.without.Learn(rec.Seq, rec.Chain, rest)
			l.difference.compare()
		case *modellog.Gap:
			l.without.Skip(rec)
		default:
			l.without.Turned(rec)
		}
		if l.with.Seq >= to {
			break
		}
	}
	return l, nil
}

// wholeHistory returns the whole history of a model.
func wholeHistory(c model.Config, j *journal.Journal) (modellog.Recovery, error) {
	from, ok := j.Log.Fold.Oldest()
	if s, g := from.Snapshot, j.Log.Fold.Genesis(); !ok || s != nil && (g.Start == nil || g.Seq != s.Manifest.Seq) { // a rebuild keeps the snapshot that the model has started with
		return from, fmt.Errorf("%w: the model log %q has lost the beginning of the history: it was trimmed, or imported after that", input.ErrHistory, j.Topic)
	}
	if !decided(c, from) {
		return from, fmt.Errorf("%w: the history begins with %v, this program has %v", model.ErrVersion, from.Versions, c.Versions())
	}
	return from, nil
}

// rebuiltAs repeats the rebuild that a model began with, and returns the state hash that it leads
// to now. known is false if the history of the other model no longer exists.
func rebuiltAs(ctx context.Context, c model.Config, s *modellog.Start) (got snapshot.Hash, known bool, err error) {
	c.Model, c.Start = s.Name, nil
	report := c.Report
	c.Report = func(ev event.Event) {
		if _, ok := ev.(event.Learned); !ok {
			report(ev)
		}
	}
	l, err := relearn(ctx, c, s.Without, s.Seq)
	if errors.Is(err, input.ErrTopic) || errors.Is(err, input.ErrHistory) || err == nil && (l.with.Seq != s.Seq || l.with.Chain != s.Chain) {
		return got, false, nil
	}
	if err != nil {
		return got, false, err
	}
	again, err := journal.Describe(*s, l.without)
	if err != nil {
		return got, false, err
	}
	return again.StateHash, true, nil
}
