package requests

import (
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// Row is a row that was predicted.
type Row struct {
	Key        []byte // key of the record; nil: the id of the row
	Value      []byte // JSON object, as in an input topic of the model
	Prediction []byte // value of the prediction record
}

// Request is one request: one row, or a list of them.
type Request struct {
	ID     string
	Rows   []Row
	List   bool            // ids of rows are ID-0, ID-1, …; otherwise the only row has ID
	Traces []ingest.Header // traceparent and tracestate
	Time   time.Time       // when the request was received
	Source string          // ce_source of the records
}

// RowID returns the id of a row.
func (r *Request) RowID(i int) string {
	if !r.List {
		return r.ID
	}
	return r.ID + "-" + strconv.Itoa(i)
}

// PredictionHeader is the header with the prediction for a row.
const PredictionHeader = "accrete.prediction"

const timeLayout = "2006-01-02T15:04:05.000Z"

// records returns a record for each row. Its value is the row in the format of an input topic, so
// that a learner can read the topic. Its headers contain the id (CloudEvents 1.0, binary mode)
// and the prediction.
func (r *Request) records() []ingest.Record {
	out := make([]ingest.Record, len(r.Rows))
	source, at := []byte(r.Source), []byte(r.Time.UTC().Format(timeLayout))
	for i, row := range r.Rows {
		id := []byte(r.RowID(i))
		hs := make([]ingest.Header, 0, 7+len(r.Traces))
		hs = append(hs, specVersion, eventType, ingest.Header{Key: "ce_source", Value: source},
			ingest.Header{Key: "ce_id", Value: id}, ingest.Header{Key: "ce_time", Value: at}, contentType)
		hs = append(hs, r.Traces...)
		hs = append(hs, ingest.Header{Key: PredictionHeader, Value: row.Prediction})
		key := row.Key
		if key == nil {
			key = id
		}
		out[i] = ingest.Record{Time: r.Time.UnixMilli(), Key: key, Value: row.Value, Headers: hs}
	}
	return out
}

var (
	specVersion = ingest.Header{Key: "ce_specversion", Value: []byte("1.0")}
	eventType   = ingest.Header{Key: "ce_type", Value: []byte("accrete.request.v1")}
	contentType = ingest.Header{Key: "content-type", Value: []byte("application/json")}
)

// murmur2 is the hash of keys by which Kafka's own clients choose a partition (Utils.murmur2). A
// topic of labels with the same keys and number of partitions then has them in the same
// partitions.
func murmur2(b []byte) uint32 {
	const m, r = 0x5bd1e995, 24
	h := 0x9747b28c ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24) * m
		h = h*m ^ (k^k>>r)*m
	}
	switch len(b) {
	case 3:
		h ^= uint32(b[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(b[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(b[0])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

func partitionOf(key []byte, partitions int) int {
	return int(murmur2(key)&0x7fffffff) % partitions
}
