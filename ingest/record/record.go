package record

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// Decode decodes a record. If the value has no key, the row has the key of the
// record. The key is valid for as long as the record is.
func Decode(d *decode.Decoder, r *ingest.Record) (decode.Row, error) {
	if len(r.Headers) > ingest.MaxHeaders {
		return decode.Row{}, fmt.Errorf("more than %d headers", ingest.MaxHeaders)
	}
	if r.Unread != nil {
		return decode.Row{}, r.Unread
	}
	if r.Value == nil {
		return decode.Row{}, errors.New("the record has no value")
	}
	row, err := d.Decode(r.Value)
	if row.Key == nil {
		row.Key = r.Key
		d.SetKey(&row)
	} else {
		row.Key = bytes.Clone(row.Key)
	}
	return row, err
}

// Quarantined returns the copy of an invalid record for a quarantine topic that
// accepts batches of up to limit bytes. The copy is the original record, truncated
// if necessary, with Kafka Connect's headers for its origin and the error.
func Quarantined(topic string, partition int32, r *ingest.Record, why error, limit int) ingest.Record {
	return bounded(*r, []ingest.Header{
		{Key: "__connect.errors.topic", Value: []byte(topic)},
		{Key: "__connect.errors.partition", Value: strconv.AppendInt(nil, int64(partition), 10)},
		{Key: "__connect.errors.offset", Value: strconv.AppendInt(nil, r.Offset, 10)},
		{Key: "__connect.errors.stage", Value: []byte("VALUE_CONVERTER")},
		{Key: "__connect.errors.exception.message", Value: []byte(Reason(why))},
	}, limit)
}
