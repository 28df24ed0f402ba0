package record

import (
	"encoding/json"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
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

// ReadOptions returns how records are read, from encoded options.
func ReadOptions(b []byte) (decode.Config, error) {
	var o options
	err := json.Unmarshal(b, &o)
	return o.Input, err
}
