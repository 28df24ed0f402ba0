package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Start is how a new model begins: with the state that the rows of a file lead to, with
// that of a snapshot, or with the empty state, and at which records of its inputs.
type Start struct {
	Name   string        // of the file, for people
	SHA256 snapshot.Hash // of the file; zero: there is no file

	// Snapshot is a snapshot file, and Rows yields the rows of any other file, as values of
	// JSON records. At most one of them is set.
	Snapshot []byte
	Rows     func(yield func(value []byte) error) error

	From From
}

// ErrStart means that a model cannot begin as requested.
var ErrStart = errors.New("the model cannot begin like that")

// rowsAtOnce is the number of rows of a file that are decided together.
const rowsAtOnce = 256

// kind returns that of the record in the log.
func (s *Start) kind() string {
	switch {
	case s.Snapshot != nil:
		return modellog.StartSnapshot
	case s.Rows != nil:
		return modellog.StartFile
	}
	return modellog.StartEmpty
}

// is reports whether the log began with the same source.
func (s *Start) is(have *modellog.Start) bool {
	return have != nil && have.Is(&modellog.Start{Kind: s.kind(), SHA256: s.SHA256})
}

// state returns the model that s leads to, and the number of rows learned for it.
func (s *Start) state(ctx context.Context, c Config, options []byte) (h *history.History, rows int64, err error) {
	switch {
	case s.Snapshot != nil:
		h, err = s.thaw(c, options)
		return h, 0, err
	case s.Rows == nil:
		h, err = history.New(c.Model, options, c.Learner)
		return h, 0, err
	}
	if h, err = history.New(c.Model, options, c.Learner); err != nil {
		return nil, 0, err
	}
	read := c.Decode
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
			return fmt.Errorf("%w: row %d of %s: %w", ErrStart, rows+int64(bad)+1, s.Name, err)
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
		err = fmt.Errorf("%w: %s has no rows", ErrStart, s.Name)
	}
	return h, rows, err
}

// keepMixture gives c the mixture of the snapshot of s, or none, unless one is configured.
func (s *Start) keepMixture(c *Config) {
	if s == nil || s.Snapshot == nil || !c.AutoMixture {
		return
	}
	file, err := snapshot.Decode(s.Snapshot, 0)
	if err != nil {
		return // thaw says what is wrong
	}
	if l, err := record.ReadLearner(file.Config); err == nil {
		c.Learner.Mixture = l.Mixture
	}
}

// thaw returns the model of a snapshot file, which must have been learned with the same
// options of the learner.
func (s *Start) thaw(c Config, options []byte) (*history.History, error) {
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
		return nil, fmt.Errorf("%w: %w: %s: %s: configure the model as in %s", ErrStart, ErrOptions, s.Name, differences(have, want), s.Name)
	}
	h, err := history.Thaw(file, c.Learner)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if _, err := history.NewDecider(c.Decode, c.Learner.Keyed(), h.Schema); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrStart, s.Name, err)
	}
	return h, nil
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

// describe returns the record of a start with state h.
func describe(s modellog.Start, h *history.History) (*modellog.Start, error) {
	frozen, err := h.Freeze(0)
	if err != nil {
		return nil, err
	}
	s.Step, s.StateHash = h.Step(), snapshot.StateHash(frozen.Schema, frozen.State)
	return &s, nil
}

// begin writes the beginning of the model log according to c.Start. If the log has begun
// like that already, it does nothing.
func (c Config) begin(ctx context.Context, ins input.Partitions, options []byte) error {
	s := c.Start
	c.tolerant = true // an interrupted start is incomplete
	j, err := openJournal(ctx, c, 1)
	if err != nil {
		return err
	}
	if err := j.log.Fold.Broken(); err != nil {
		return fmt.Errorf("%w, in topic %q", err, j.topic)
	}
	if done, err := s.begun(j); done || err != nil {
		return err
	}
	at, err := s.From.positions(ctx, c, ins)
	if err != nil {
		return err
	}
	h, rows, err := s.state(ctx, c, options)
	if err != nil {
		return err
	}
	how, err := describe(modellog.Start{Kind: s.kind(), Name: s.Name, SHA256: s.SHA256, Rows: rows, Positions: at}, h)
	if err != nil {
		return err
	}
	return j.start(ctx, c, options, h, how)
}

// begun reports whether the log has begun with s. It returns an error if it has begun
// otherwise.
func (s *Start) begun(j *journal) (bool, error) {
	f := j.log.Fold
	if f.Claim().Epoch == 0 || !f.Seeded() {
		return false, nil
	}
	have := f.Genesis()
	switch {
	case s.is(have.Start):
		return have.Import == 0, nil
	case have.Start != nil:
		return false, fmt.Errorf("%w: %q began with %v: remove --from, or start a new model under another name", ErrStart, j.topic, have.Start)
	}
	return false, fmt.Errorf("%w: %q began with the first records of its inputs: remove --from and --from-offsets, or start a new model under another name", ErrStart, j.topic)
}

// start claims the log and writes the GENESIS of a model that begins with h, the snapshot
// of h and an IMPORTED, which completes it.
func (j *journal) start(ctx context.Context, c Config, options []byte, h *history.History, how *modellog.Start) error {
	if err := j.trusted(c); err != nil {
		return err
	}
	before, err := j.outlived(ctx, c)
	if err != nil {
		return err
	}
	f := j.log.Fold
	seq, chain := before+1, how.Hash()
	if f.Claim().Epoch > 0 { // an interrupted start
		g := f.Genesis()
		how, seq, chain = g.Start, g.Seq, f.Chain()
		j.starting = true
	}
	h.Begin(c.Model, options, seq, chain, how.Positions)
	err = j.claim(ctx, c.Versions(), func(o modellog.Owner) []modellog.Record {
		if j.log.Fold.Claim().Epoch > 0 {
			return nil
		}
		return []modellog.Record{
			&modellog.Genesis{Owner: o, Model: c.Model, TopicID: j.log.ID(), Seq: seq, Chain: chain, Import: seq, Start: how, Versions: c.Versions(), Writer: j.writer},
			&modellog.Config{Owner: o, Hash: sha256.Sum256(options), Config: options},
		}
	})
	if err != nil {
		return err
	}
	g := j.log.Fold.Genesis()
	if g.Start == nil || g.Import != seq || j.log.Fold.Chain() != chain {
		return fmt.Errorf("%w: another process has written to %q in the meantime", ErrStart, j.topic)
	}
	frozen, err := h.Freeze(j.owner.Epoch)
	if err != nil {
		return err
	}
	if got := snapshot.StateHash(frozen.Schema, frozen.State); got != how.StateHash {
		return fmt.Errorf("%w: %v leads to state %v now, but was recorded with state %v: delete the topic %q to begin again", ErrStart, how, got, how.StateHash, j.topic)
	}
	if err := j.seal(ctx, c, frozen); err != nil {
		return err
	}
	c.Report(event.Began{Start: how})
	return nil
}

// seal writes the snapshot with which a model begins, and the IMPORTED that completes it.
func (j *journal) seal(ctx context.Context, c Config, s *snapshot.Snapshot) error {
	file, err := snapshot.Append(nil, s)
	if err != nil {
		return err
	}
	chunks, m, err := modellog.Split(file, j.owner, c.ChunkBytes)
	if err != nil {
		return err
	}
	for _, chunk := range chunks {
		if err := j.append(ctx, chunk); err != nil {
			return err
		}
	}
	if err := j.finish(ctx, m); err != nil {
		return err
	}
	return j.append(ctx, &modellog.Imported{Owner: j.owner, Seq: s.Seq, Chain: s.Chain})
}
