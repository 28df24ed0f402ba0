package record

import (
	"encoding/json"
	"fmt"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// options are all options that affect the arithmetic or the bytes of a prediction.
// They are part of every snapshot and of the model log.
type options struct {
	Learner json.RawMessage `json:"learner"`
	Input   decode.Config   `json:"input"`
}

// Options encodes the options of a model. Defaults are included, so that a later
// change of a default does not alter an existing model.
func Options(l learner.Config, in decode.Config) ([]byte, error) {
	canonical, err := l.Canonical()
	if err != nil {
		return nil, err
	}
	if in, err = in.Effective(); err != nil {
		return nil, err
	}
	return json.Marshal(options{canonical, in})
}

// ReadLearner returns the options of the learner, from encoded options.
func ReadLearner(b []byte) (learner.Config, error) {
	var o options
	if err := json.Unmarshal(b, &o); err != nil {
		return learner.Config{}, err
	}
	var c learner.Config
	err := json.Unmarshal(o.Learner, &c)
	return c, err
}

// ReadOptions returns how records are read, from encoded options. Without any, the options are the
// defaults.
func ReadOptions(b []byte) (decode.Config, error) {
	var o options
	if len(b) == 0 {
		return o.Input, nil
	}
	err := json.Unmarshal(b, &o)
	return o.Input, err
}

// ReadSchema returns a schema, from its encoding in a snapshot. Without any, it is that of a model which
// has seen no row. The error is snapshot.ErrCorrupt.
func ReadSchema(b []byte) (s decode.Schema, err error) {
	if len(b) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%w: schema: %w", snapshot.ErrCorrupt, err)
	}
	return s, nil
}

// CheckModel returns an error unless the options and the schema of a snapshot fit its model: rows that
// are read with them are rows of the model, and its predictions have names. A model that has seen no row
// or no label fits any. The schema may have classes that the model has not learned yet.
func CheckModel(m *learner.Model, in decode.Config, s *decode.Schema) error {
	if dim := m.Dim(); dim != 0 && len(s.Columns) != dim {
		return fmt.Errorf("the schema has %d columns, the model has %d inputs", len(s.Columns), dim)
	}
	if _, err := s.ColumnTypes(); err != nil {
		return err
	}
	var none learner.Batch
	none.Reset(m.Dim())
	p := m.Predict(&none)
	if p.Task != learner.Auto && s.Task != p.Task.String() {
		return fmt.Errorf("the task of the schema is %q, that of the model is %v", s.Task, p.Task)
	}
	if p.Task == learner.Classification && len(s.Classes) < p.Size {
		return fmt.Errorf("the schema has %d classes, the model has %d", len(s.Classes), p.Size)
	}
	if n := p.Size / p.Quantiles.Each(); p.Task == learner.Regression && len(in.Labels) > 0 && len(in.Labels) != n {
		return fmt.Errorf("the options have %d labels, the model has %d targets", len(in.Labels), n)
	}
	return nil
}
