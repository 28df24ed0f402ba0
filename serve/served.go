package serve

import (
	"fmt"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/snapshot"
)

// Served is a model in use by a scorer: the serving part of a complete, verified
// snapshot.
type Served struct {
	ID        record.ModelID
	Decode    decode.Config // how the learner reads records
	Schema    decode.Schema
	Seq       int64
	StateHash snapshot.Hash
	Timeline  *timeline.Timeline // of the learner's errors; nil if the snapshot has none
	Written   time.Time          // when the learner took the snapshot; zero if that is unknown

	offset int64  // of its MANIFEST in the log
	reads  string // encoded options and schema of the snapshot

	mu    sync.Mutex
	model *learner.Model
	rows  *enrich.Rows // of the tables in Decode.Tables; nil: records are not enriched
}

// NewDecoder returns a Decoder of records, or of rows as JSON, for Read.
func (s *Served) NewDecoder(c decode.Config) (*decode.Decoder, error) {
	d, err := decode.New(c, s.Schema)
	if err == nil && s.rows != nil {
		d.SetTables(s.rows.Tables())
	}
	return d, err
}

// Read decodes a record with a Decoder of this model, or of another model for which ReadsLike
// is true.
func (s *Served) Read(d *decode.Decoder, r *ingest.Record) (row decode.Row, err error) {
	if s.rows == nil {
		return record.Decode(d, r)
	}
	s.rows.Reading(func() { row, err = record.Decode(d, r) })
	return row, err
}

// Predict returns predictions for all rows of b. Their dimension must be that of
// the schema. It is safe for concurrent use.
func (s *Served) Predict(b *learner.Batch) learner.Predictions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.Predict(b)
}

// Observe sets the window statistics of the rows of b, and adds the rows to the windows of this
// model. Without a call of Observe, Predict sets the statistics from the windows of the snapshot.
func (s *Served) Observe(b *learner.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.Observe(b)
}

// ReadsLike reports whether s and other turn every record into the same row.
func (s *Served) ReadsLike(other *Served) bool { return s.reads == other.reads && s.rows == other.rows }

// Keyed reports whether predictions depend on the key of a row.
func (s *Served) Keyed() bool { return s.model.Keyed() }

// Columns describes how the model uses each column; see learner.Model.Columns.
func (s *Served) Columns() (columns []learner.Column, fitted bool) { return s.model.Columns() }

// Uncertainty returns the intervals and variances that predictions have in addition to their
// value.
func (s *Served) Uncertainty() learner.Intervals {
	var none learner.Batch
	none.Reset(len(s.Schema.Columns))
	return s.Predict(&none).Intervals
}

// Taus returns the levels of the quantiles that the model predicts for each target, or nil
// unless there are several.
func (s *Served) Taus() []float64 {
	if q, ok := s.model.Loss().(loss.Quantiles); ok {
		return q.Taus()
	}
	return nil
}

// NewServed returns the model of a snapshot, from its serving part. The error is snapshot.ErrCorrupt if
// the schema or the options do not fit the model.
func NewServed(s *snapshot.Snapshot) (*Served, error) {
	return (&Served{model: new(learner.Model)}).Next(s)
}

// Next returns the model of a snapshot, like NewServed, but shares with s what both have in
// common. Consecutive snapshots of a learner mostly have the same options, schema and random
// features. Both models can be used at the same time.
func (s *Served) Next(of *snapshot.Snapshot) (*Served, error) {
	model, err := s.model.Next(of.State.Serving)
	if err != nil {
		return nil, err
	}
	next := &Served{
		ID:  record.ModelID{Name: of.Model, Step: of.Step, Lineage: of.Lineage, LearnedTo: of.LearnedTo},
		Seq: of.Seq, StateHash: of.StateHash, model: model,
		Decode: s.Decode, Schema: s.Schema, reads: s.reads,
	}
	if !s.readsAs(of) {
		next.reads = string(of.Config) + "\n" + string(of.Schema)
		next.Decode, err = record.ReadOptions(of.Config)
		if next.Decode.Fixed = true; err != nil {
			return nil, fmt.Errorf("%w: invalid options: %v", snapshot.ErrCorrupt, err)
		}
		if next.Schema, err = record.ReadSchema(of.Schema); err != nil {
			return nil, err
		}
	}
	if err := record.CheckModel(model, next.Decode, &next.Schema); err != nil {
		return nil, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	return next, nil
}

// readsAs reports whether a snapshot has the same options and schema as s.
func (s *Served) readsAs(of *snapshot.Snapshot) bool {
	n := len(of.Config)
	return len(s.reads) == n+1+len(of.Schema) && s.reads[:n] == string(of.Config) && s.reads[n+1:] == string(of.Schema)
}
