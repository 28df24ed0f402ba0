package audit

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// question is a prediction that is to be proved.
type question struct {
	Receipt
	at        int // place among the questions
	published ingest.Record
	answered  bool
}

// Prove finds predictions of a learner by their ce_id, replays the history up to the decisions that
// made them, and computes them again. The replay begins at the newest snapshot before a prediction.
// Prove writes nothing. The receipts are in the order of ids.
func Prove(ctx context.Context, c model.Config, ids []string) ([]Receipt, error) {
	c = c.Quiet()
	c.Keep = math.MaxInt
	j, err := journal.OpenComplete(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	options, err := recorded(&c, j)
	if err != nil {
		return nil, err
	}
	groups := map[int][]*question{} // by the snapshot to begin with
	var all []*question
	for i, id := range ids {
		q := &question{at: i}
		if err := q.find(ctx, c, j, id); err != nil {
			return nil, err
		}
		back, err := before(j, q)
		if err != nil {
			return nil, err
		}
		all, groups[back] = append(all, q), append(groups[back], q)
	}
	backs := make([]int, 0, len(groups))
	for back := range groups {
		backs = append(backs, back)
	}
	slices.Sort(backs)
	for _, back := range backs {
		if err := answerFrom(ctx, c, j, options, back, groups[back]); err != nil {
			return nil, err
		}
	}
	out := make([]Receipt, len(all))
	for i, q := range all {
		out[i] = q.Receipt
	}
	return out, nil
}

// recorded returns the options in the log, after checking that c has the same.
func recorded(c *model.Config, j *journal.Journal) ([]byte, error) {
	have := j.Log.Fold.Config().Config
	if len(have) == 0 {
		return c.Options()
	}
	options, err := c.KeepReading(have)
	if err != nil {
		return nil, err
	}
	return options, model.SameOptions(have, options)
}

// before returns the argument of Recover for the newest snapshot before the decision of q.
func before(j *journal.Journal, q *question) (back int, err error) {
	f := j.Log.Fold
	for back = 0; back <= len(f.Snapshots()); back++ {
		if r, ok := f.Recover(back); ok && r.Seq < q.Seq {
			return back, nil
		}
	}
	return 0, fmt.Errorf("%w: %s was decided with seq %d, and the model log has no snapshot before that", ErrUnproved, q.ID, q.Seq)
}

// find finds the published prediction of a record, and the decision that made it.
func (q *question) find(ctx context.Context, c model.Config, j *journal.Journal, id string) error {
	q.ID = id
	var ok bool
	if q.Topic, q.Partition, q.Offset, ok = model.ParsePosition(id, "-", "-"); !ok {
		return fmt.Errorf("%w: %q: want the ce_id of a prediction, TOPIC-PARTITION-OFFSET", ErrUnproved, id)
	}
	f := j.Log.Fold
	var seqs []int64 // more than one if the topic was replaced by another one of the same name
	for back := len(f.Snapshots()); back >= 0 && seqs == nil; back-- {
		r, _ := f.Recover(back)
		for _, e := range r.Entries {
			b, ok := e.Record.(*modellog.Batch)
			if ok && slices.ContainsFunc(b.Ranges, func(g modellog.Range) bool {
				return g.Topic == q.Topic && g.Partition == q.Partition && g.From <= q.Offset && q.Offset < g.To
			}) {
				seqs = append(seqs, b.Seq)
			}
		}
		if len(r.Entries) > 0 {
			break // later snapshots have a part of these entries
		}
	}
	for _, seq := range slices.Backward(seqs) {
		ok, err := q.publishedAs(ctx, c, seq)
		if ok || err != nil {
			return err
		}
	}
	switch {
	case len(seqs) > 0:
		return fmt.Errorf("%w: %q has no prediction %s of seq %d: the record was not a row, or the topic has deleted it", ErrUnproved, model.PredictionsTopic(c.Model), id, seqs[0])
	case len(f.Abandoned()) > 0:
		return fmt.Errorf("%w: the model log %q has no decision about %s: it is not decided, it lies in a GAP, it was abandoned by a rollback, or the log was trimmed", ErrUnproved, j.Topic, id)
	}
	return fmt.Errorf("%w: the model log %q has no decision about %s: it is not decided, it lies in a GAP, or the log was trimmed", ErrUnproved, j.Topic, id)
}

// place identifies a prediction by its decision and its record.
type place struct {
	seq               int64
	topic             string
	partition, offset int64
}

// answerFrom replays the history after a snapshot and answers the questions about it.
func answerFrom(ctx context.Context, c model.Config, j *journal.Journal, options []byte, back int, qs []*question) error {
	from, ok := j.Log.Fold.Recover(back)
	if !ok {
		return fmt.Errorf("%w: the snapshot is gone", ErrUnproved)
	}
	if !decided(c, from) {
		return fmt.Errorf("%w: the history after seq %d has %v, this program has %v", model.ErrVersion, from.Seq, from.Versions, c.Versions())
	}
	r, err := openRetrace(ctx, c, j, from, options)
	if err != nil {
		return err
	}
	defer r.close()
	bounds, err := r.bounds(ctx)
	if err != nil {
		return err
	}
	r.history.Limits = bounds
	asked, last := map[place][]*question{}, int64(0) // more than one question if an id is given twice
	for _, q := range qs {
		at := place{q.Seq, q.Topic, int64(q.Partition), q.Offset}
		asked[at], last = append(asked[at], q), max(last, q.Seq)
	}
	var seq, records int64
	r.history.Witness = func(p history.Predicted) {
		for _, q := range asked[place{seq, p.Topic, int64(p.Partition), p.Record.Offset}] {
			q.answer(r.history, p)
			q.FromSeq, q.Records = from.Seq, records
			if s := from.Snapshot; s != nil {
				q.Snapshot, q.FromState = &s.Manifest.Snapshot, s.Manifest.StateHash
			}
		}
	}
	for _, e := range from.Entries {
		d, err := r.decide(ctx, e.Record)
		if err != nil {
			return err
		}
		if b, ok := e.Record.(*modellog.Batch); ok {
			seq = b.Seq
			records += int64(len(d.Items))
		}
		if _, err := r.apply(e.Record, d); err != nil {
			return err
		}
		if r.history.Seq >= last {
			break
		}
	}
	for _, q := range qs {
		if !q.answered {
			return fmt.Errorf("%w: the replay has made no prediction %s", ErrUnproved, q.ID)
		}
	}
	return nil
}

// same reports whether two records have the same key, value, time and headers.
func same(a, b *ingest.Record) bool {
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) && a.Time == b.Time &&
		slices.EqualFunc(a.Headers, b.Headers, func(a, b ingest.Header) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) })
}

// answer compares a prediction with the one that was published.
func (q *question) answer(h *history.History, p history.Predicted) {
	q.answered = true
	q.Model, q.Step, q.Lineage = h.Name(), h.Step(), h.Lineage
	q.LearnedTo = slices.Clone(h.LearnedTo())
	again, was := p.Published, &q.published
	q.Equal = same(again, was)
	if !q.Equal { // the parts that are copied from the input may be configured otherwise than they were then
		mine, theirs := record.Own(*again), record.Own(*was)
		q.Equal = same(&mine, &theirs)
	}
	q.Prediction = asJSON(was)
	if !q.Equal {
		q.Again = asJSON(again)
	}
	in := Input{Time: time.UnixMilli(p.Record.Time).UTC(), Key: string(p.Record.Key), Value: string(p.Record.Value), Columns: []InputColumn{}}
	for _, header := range p.Record.Headers {
		if in.Headers == nil {
			in.Headers = map[string]string{}
		}
		in.Headers[header.Key] = string(header.Value)
	}
	for _, f := range p.Schema.Fields() {
		col := InputColumn{Name: f.Name}
		if p.Schema.Types != nil {
			col.Type = f.Type
		}
		for _, a := range p.Schema.Aliases {
			if a.Column == f.Name {
				col.ReadFrom = a.Field
			}
		}
		switch v := p.X[f.At]; {
		case f.Pair: // the record does not have it
		case v != v:
			col.Missing = true
		case slices.Contains([]string{"numeric", "boolean", "time", "numeric:normal", "time:trend", "time:since"}, f.Type):
			col.Value = &v
		}
		in.Columns = append(in.Columns, col)
	}
	q.Input = in
	q.explain(h, p)
}

// asJSON returns the value of a prediction as JSON, or unchanged if it cannot be read.
func asJSON(r *ingest.Record) []byte {
	value, err := record.JSON(r)
	if err != nil {
		value = r.Value
	}
	return bytes.Clone(value)
}
