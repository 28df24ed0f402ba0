package serve

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
)

// Encoder writes the predictions of one model as Kafka records: JSON values,
// the input's key and time, and CloudEvents headers in binary mode. Its output
// is a function of the model and the input record alone, so that all copies of
// a prediction are the same bytes. It is for one goroutine.
type Encoder struct {
	source  ingest.Header
	classes [][]byte // names as JSON strings
	tail    []byte   // what every prediction of the model ends with

	bytes   []byte // unused memory for the records to come
	entries []ingest.Header
}

// Records share memory in pieces of these sizes.
const (
	slabBytes   = 32 << 10
	slabHeaders = 512
)

// room is an empty slice that takes n bytes, and more elsewhere.
func (e *Encoder) room(n int) []byte {
	if len(e.bytes) < n {
		e.bytes = make([]byte, max(n, slabBytes))
	}
	b := e.bytes[:0:n]
	e.bytes = e.bytes[n:]
	return b
}

// ModelID is what a prediction says of the model that made it.
type ModelID struct {
	Name      string
	Step      int64    // mini-batches learned
	Lineage   [32]byte // chain over everything that was learned, in order
	LearnedTo []Offset // sorted by topic and partition
}

// Offset is a place in an input topic: the first offset not yet reached.
type Offset struct {
	Topic     string
	Partition int32
	Next      int64
}

// NewEncoder returns the Encoder of a model whose classes are named by classes,
// in the order of their index.
func NewEncoder(id ModelID, classes []string) *Encoder {
	e := &Encoder{source: ingest.Header{Key: "ce_source", Value: []byte("/accrete/" + id.Name)}}
	for _, c := range classes {
		e.classes = append(e.classes, appendString(nil, c))
	}
	b := appendString([]byte(`,"model":`), id.Name)
	b = strconv.AppendInt(append(b, `,"step":`...), id.Step, 10)
	b = hex.AppendEncode(append(b, `,"lineage":"`...), id.Lineage[:])
	b = append(b, `","learned_to":{`...)
	for i, o := range id.LearnedTo {
		if i == 0 || o.Topic != id.LearnedTo[i-1].Topic {
			if i > 0 {
				b = append(b, "},"...)
			}
			b = append(appendString(b, o.Topic), ":{"...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '"'), int64(o.Partition), 10)
		b = strconv.AppendInt(append(b, `":`...), o.Next, 10)
	}
	if len(id.LearnedTo) > 0 {
		b = append(b, '}')
	}
	e.tail = append(b, "}}"...)
	return e
}

// Example is the input that a prediction answers.
type Example struct {
	Topic     string
	Partition int32
	Record    *ingest.Record
	Label     learner.Label
	LabelName string  // of a class
	Loss      float64 // of the prediction
	Graded    bool    // there was a label and a prediction, and so a loss
}

// Record returns the prediction for x. Row is the model's output for it: the
// probability of each class, one number or a list of several, or nothing while the
// model has seen no label.
func (e *Encoder) Record(x Example, task learner.Task, row []float64) ingest.Record {
	size := 128 + len(e.tail) + len(x.LabelName) + 32*len(x.Label.More)
	for i := range row {
		size += 32
		if i < len(e.classes) {
			size += len(e.classes[i])
		}
	}
	b := append(e.room(size), `{"prediction":`...)
	switch {
	case len(row) == 0:
		b = append(b, "null"...)
	case task == learner.Regression:
		b = appendNumbers(b, row[0], row[1:])
	default:
		b = append(append(b, e.classes[learner.Best(row)]...), `,"probabilities":{`...)
		for i, p := range row {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, e.classes[i]...), ':')
			b = strconv.AppendFloat(b, p, 'g', -1, 64)
		}
		b = append(b, '}')
	}
	switch x.Label.Task {
	case learner.Classification:
		b = appendString(append(b, `,"label":`...), x.LabelName)
	case learner.Regression:
		b = appendNumbers(append(b, `,"label":`...), x.Label.Value, x.Label.More)
	}
	if x.Graded {
		b = strconv.AppendFloat(append(b, `,"loss":`...), x.Loss, 'g', -1, 64)
	}
	b = append(b, e.tail...)
	return ingest.Record{Time: x.Record.Time, Key: x.Record.Key, Value: b, Headers: e.headers(x)}
}

var (
	specVersion = ingest.Header{Key: "ce_specversion", Value: []byte("1.0")}
	eventType   = ingest.Header{Key: "ce_type", Value: []byte("accrete.prediction.v1")}
	contentType = ingest.Header{Key: "content-type", Value: []byte("application/json")}
)

const timeLayout = "2006-01-02T15:04:05.000Z"

func (e *Encoder) headers(x Example) []ingest.Header {
	id := e.room(len(x.Topic) + 34)
	id = append(append(id, x.Topic...), '-')
	id = append(strconv.AppendInt(id, int64(x.Partition), 10), '-')
	id = strconv.AppendInt(id, x.Record.Offset, 10)
	at := time.UnixMilli(x.Record.Time).UTC().AppendFormat(e.room(len(timeLayout)), timeLayout)
	const most = 7
	if len(e.entries) < most {
		e.entries = make([]ingest.Header, slabHeaders)
	}
	hs := e.entries[:0:most]
	e.entries = e.entries[most:]
	hs = append(hs, specVersion, eventType, e.source,
		ingest.Header{Key: "ce_id", Value: id}, ingest.Header{Key: "ce_time", Value: at}, contentType)
	for _, h := range x.Record.Headers {
		if h.Key == "traceparent" {
			return append(hs, h)
		}
	}
	return hs
}

// appendNumbers appends a number, or the list of it and more.
func appendNumbers(b []byte, first float64, more []float64) []byte {
	if len(more) == 0 {
		return strconv.AppendFloat(b, first, 'g', -1, 64)
	}
	b = strconv.AppendFloat(append(b, '['), first, 'g', -1, 64)
	for _, v := range more {
		b = strconv.AppendFloat(append(b, ','), v, 'g', -1, 64)
	}
	return append(b, ']')
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			const hexDigits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
