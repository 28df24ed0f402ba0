// Package beginning writes the beginning of a model that starts with the rows of a file, with a
// snapshot, or at given positions of its inputs.
package beginning

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// rowsAtOnce is the number of rows of a file that are decided together.
const rowsAtOnce = 256

// State returns the state that the start s leads to, and the number of rows that were learned for
// it.
func State(ctx context.Context, s *model.Start, c model.Config, options []byte) (h *history.History, rows int64, err error) {
	switch {
	case s.Snapshot != nil:
		h, err = thaw(s, c, options)
		return h, 0, err
	case s.Rows == nil:
		h, err = history.New(c.Model, options, c.Learner)
		return h, 0, err
	}
	if h, err = history.New(c.Model, options, c.Learner); err != nil {
		return nil, 0, err
	}
	read := c.Decode
	if read.Late != nil { // rows of files have labels of their own
		if read, err = read.Effective(); err != nil {
			return nil, 0, err
		}
		read.Late = nil
	}
	read.Format = "json"
	d, err := history.NewDecider(read, c.Learner.Keyed(), h.Schema)
	if err != nil {
		return nil, 0, err
	}
	var waiting []ingest.Record
	learn := func() error {
		if len(waiting) == 0 {
			return nil
		}
		if bad, err := h.Prepare(d, waiting); err != nil {
			return fmt.Errorf("%w: row %d of %s: %w", model.ErrStart, rows+int64(bad)+1, s.Name, err)
		}
		if rows == 0 {
			if err := c.Learner.Check(h.Schema.Columns); err != nil {
				return err
			}
		}
		rows += int64(len(waiting))
		waiting = waiting[:0]
		c.Report(event.Preparing{Rows: rows})
		return ctx.Err()
	}
	err = s.Rows(func(value []byte) error {
		n := rows + int64(len(waiting))
		waiting = append(waiting, ingest.Record{Offset: n, Key: fmt.Append(nil, n), Value: bytes.Clone(value)})
		if len(waiting) < rowsAtOnce {
			return nil
		}
		return learn()
	})
	if err == nil {
		err = learn()
	}
	if err == nil && rows == 0 {
		err = fmt.Errorf("%w: %s has no rows", model.ErrStart, s.Name)
	}
	return h, rows, err
}

// thaw returns the model in a snapshot file. The learner must have had the same options.
func thaw(s *model.Start, c model.Config, options []byte) (*history.History, error) {
	file, err := snapshot.Decode(s.Snapshot, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	have, err := learnerOptions(file.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: options: %w", s.Name, snapshot.ErrCorrupt, err)
	}
	want, err := learnerOptions(options)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(have, want) {
		return nil, fmt.Errorf("%w: %w: %s: %s: configure the model as in %s", model.ErrStart, model.ErrOptions, s.Name, model.Differences(have, want), s.Name)
	}
	if err := fits(file); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	h, err := history.Thaw(file, c.Learner)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if _, err := history.NewDecider(c.Decode, c.Learner.Keyed(), h.Schema); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", model.ErrStart, s.Name, err)
	}
	h.Clear(options)
	return h, nil
}

// fits returns snapshot.ErrCorrupt unless the schema of a snapshot fits its model. Otherwise labels would
// become other classes than those that the model has learned, without any error.
func fits(s *snapshot.Snapshot) error {
	m, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return err
	}
	schema, err := record.ReadSchema(s.Schema)
	if err != nil {
		return err
	}
	if err := record.CheckModel(m, decode.Config{}, &schema); err != nil {
		return fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	return nil
}

// learnerOptions returns the part of encoded options that determines the learner.
func learnerOptions(options []byte) ([]byte, error) {
	var parts struct {
		Learner json.RawMessage `json:"learner"`
	}
	if err := json.Unmarshal(options, &parts); err != nil {
		return nil, err
	}
	return json.Marshal(parts)
}

// Write writes the beginning of the model log according to c.Start. If the log already has this
// beginning, it does nothing.
func Write(ctx context.Context, c model.Config, ins input.Partitions, options []byte) error {
	s := c.Start
	j, err := journal.Tolerant(ctx, c) // after an interrupted start the log is incomplete
	if err != nil {
		return err
	}
	if err := j.Tail(ctx, 1); err != nil {
		return err
	}
	if err := j.Log.Fold.Broken(); err != nil {
		return fmt.Errorf("%w, in topic %q", err, j.Topic)
	}
	if done, err := begun(s, j); done || err != nil {
		return err
	}
	at, err := positions(ctx, s.From, c, ins)
	if err != nil {
		return err
	}
	h, rows, err := State(ctx, s, c, options)
	if err != nil {
		return err
	}
	how, err := journal.Describe(modellog.Start{Kind: s.Kind(), Name: s.Name, SHA256: s.SHA256, Rows: rows, Positions: at}, h)
	if err != nil {
		return err
	}
	return j.Start(ctx, c, options, h, how)
}

// begun reports whether the log already has the complete beginning that s describes. It returns an
// error if the log has another one.
func begun(s *model.Start, j *journal.Journal) (bool, error) {
	f := j.Log.Fold
	if f.Claim().Epoch == 0 || !f.Seeded() {
		return false, nil
	}
	have := f.Genesis()
	switch {
	case s.Is(have.Start):
		return have.Import == 0, nil
	case have.Start != nil:
		return false, fmt.Errorf("%w: %q began with %v: remove --from, or start a new model under another name", model.ErrStart, j.Topic, have.Start)
	}
	return false, fmt.Errorf("%w: %q began with the first records of its inputs: remove --from and --from-offsets, or start a new model under another name", model.ErrStart, j.Topic)
}

// positions returns the position of each input at which a model that begins with f reads first.
func positions(ctx context.Context, f model.From, c model.Config, ins input.Partitions) (at []snapshot.Position, err error) {
	for topic, offsets := range f.Offsets {
		for p := range offsets {
			if ins.Find(topic, p) == nil {
				return nil, fmt.Errorf("%w: %s/%d is not among the inputs", model.ErrStart, topic, p)
			}
		}
	}
	var first, end, found []int64
	for i, in := range ins {
		if i == 0 || in.Topic != ins[i-1].Topic {
			if first, end, err = input.Offsets(ctx, c.Client, in.Topic, c.Report); err != nil {
				return nil, err
			}
			if !f.Time.IsZero() {
				err = input.Retry(ctx, c.Report, func() (err error) {
					found, err = c.Client.OffsetsAt(ctx, in.Topic, f.Time)
					return err
				})
				if err != nil {
					return nil, err
				}
			}
		}
		next := first[in.Partition]
		offset, named := f.Offsets[in.Topic][in.Partition]
		switch {
		case named && (offset < next || offset > end[in.Partition]):
			return nil, fmt.Errorf("%w: offset %d of %v does not exist: it has the offsets %d to %d", model.ErrStart, offset, in, next, end[in.Partition])
		case named:
			next = offset
		case f.Latest:
			next = end[in.Partition]
		case !f.Time.IsZero():
			next = found[in.Partition]
		}
		at = append(at, snapshot.Position{Topic: in.Topic, TopicID: in.ID, Partition: in.Partition, Next: next})
	}
	return at, nil
}
