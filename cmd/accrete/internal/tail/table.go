package tail

import (
	"encoding/json"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
)

// table prints predictions.
type table struct {
	e      *env.Env
	asJSON bool
	redact *record.Redaction
}

func (t *table) header() error {
	if t.asJSON {
		return nil
	}
	return t.e.Print(false, display.PredictionHeader(), nil)
}

// shown is a record as a line of JSON.
type shown struct {
	Topic     string          `json:"topic"`
	Partition int             `json:"partition"`
	Offset    int64           `json:"offset"`
	Time      time.Time       `json:"time"`
	Key       *string         `json:"key"`
	Value     json.RawMessage `json:"value"` // null if it is no JSON
}

// line prints a record.
func (t *table) line(topic string, partition int, r *ingest.Record) error {
	at := time.UnixMilli(r.Time).UTC()
	value, err := record.JSON(r)
	if err != nil {
		value = nil
	}
	if t.asJSON {
		s := shown{Topic: topic, Partition: partition, Offset: r.Offset, Time: at}
		if r.Key != nil {
			key := string(r.Key)
			s.Key = &key
		}
		if json.Valid(value) {
			s.Value = t.redact.Prediction(value)
		}
		return t.e.Print(true, "", s)
	}
	return t.e.Print(false, display.PredictionRow(at, r.Key, value), nil)
}
