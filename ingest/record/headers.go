package record

import (
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

var (
	specVersion = ingest.Header{Key: "ce_specversion", Value: []byte("1.0")}
	eventType   = ingest.Header{Key: "ce_type", Value: []byte("accrete.prediction.v1")}
	contentType = ingest.Header{Key: "content-type", Value: []byte("application/json")}
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// timeBytes is the memory needed to format a time with timeLayout: 5 bytes more than the
// layout because Kafka's timestamps reach years of nine digits, and another 6 because
// AppendFormat writes nanoseconds before it cuts them off.
const timeBytes = len(timeLayout) + 5 + 6

// headers returns the key and the headers of a prediction.
func (e *Encoder) headers(x Example) (key []byte, hs []ingest.Header) {
	id := e.room(len(x.Topic) + 34)
	id = append(append(id, x.Topic...), '-')
	id = append(strconv.AppendInt(id, int64(x.Partition), 10), '-')
	id = strconv.AppendInt(id, x.Record.Offset, 10)
	at := time.UnixMilli(x.Record.Time).UTC().AppendFormat(e.room(timeBytes), timeLayout)
	const most = 9
	if len(e.entries) < most {
		e.entries = make([]ingest.Header, slabHeaders)
	}
	hs = e.entries[:0:most]
	e.entries = e.entries[most:]
	hs = append(hs, specVersion, eventType, e.source,
		ingest.Header{Key: "ce_id", Value: id}, ingest.Header{Key: "ce_time", Value: at}, e.content)
	if x.Sequence > 0 {
		hs = append(hs, ingest.Header{Key: "ce_sequence", Value: strconv.AppendInt(e.room(20), x.Sequence, 10)})
	}
	hs = e.passHeaders(hs, x.Record.Headers)
	key = x.Key
	if most := e.limit / keyShare; len(key) > most {
		hs = append(hs, ingest.Header{Key: truncatedKey, Value: []byte(describe(key))})
		key = key[:most]
	}
	return e.own(key), hs
}
