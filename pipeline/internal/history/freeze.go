package history

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Freeze copies h into a snapshot.
func (h *History) Freeze(epoch int64) (*snapshot.Snapshot, error) {
	state := h.Learner.State()
	if h.join != nil {
		state.Resuming = append(state.Resuming, h.join.State()...)
	}
	state.Resuming = append(state.Resuming, h.adopted.state()...)
	state.Resuming = append(state.Resuming, h.tables.State()...)
	return h.copied(epoch, state)
}

// FreezeServing copies only the part that predictions need, which is small.
func (h *History) FreezeServing(epoch int64) (*snapshot.Snapshot, error) {
	return h.copied(epoch, learner.State{Serving: h.Learner.Serving()})
}

func (h *History) copied(epoch int64, state learner.State) (*snapshot.Snapshot, error) {
	schema, err := json.Marshal(h.served())
	if err != nil {
		return nil, err
	}
	return &snapshot.Snapshot{
		Model: h.name, Epoch: epoch, Seq: h.Seq, Step: h.step,
		Chain: h.Chain, Lineage: h.Lineage, Rows: h.rows,
		Config: h.options, ConfigHash: sha256.Sum256(h.options),
		Positions: append([]snapshot.Position(nil), h.Reached...),
		Schema:    schema,
		LearnedTo: h.learnedTo,
		State:     state,
	}, nil
}

// Thaw restores the history that Freeze has copied.
func Thaw(s *snapshot.Snapshot, c learner.Config) (*History, error) {
	state := s.State
	var late []learner.Array
	state.Resuming, late = join.Split(state.Resuming)
	var own []learner.Array
	state.Resuming, own = splitAdopted(state.Resuming)
	var rows []learner.Array
	state.Resuming, rows = table.Split(state.Resuming)
	l, err := learner.Restore(c, state)
	if err != nil {
		return nil, err
	}
	h := &History{
		name: s.Model, options: s.Config, Learner: l, Schema: new(decode.Schema),
		Seq: s.Seq, Chain: s.Chain, rows: s.Rows, Lineage: s.Lineage, step: s.Step,
		Reached:   append([]snapshot.Position(nil), s.Positions...),
		learnedTo: s.LearnedTo,
		Limits:    defaultLimits,
	}
	if *h.Schema, err = record.ReadSchema(s.Schema); err != nil {
		return nil, err
	}
	if err := h.thawAdopted(c, own); err != nil {
		return nil, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	if err := h.thawJoin(late); err != nil {
		return nil, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	if err := h.thawTables(rows); err != nil {
		return nil, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	if planted.Fault("thaw") {
		h.learnedTo = nil
	}
	return h, nil
}
