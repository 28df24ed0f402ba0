package record

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// noValue is the reason of a record whose value is null.
const noValue = "the record has no value"

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
		return decode.Row{}, errors.New(noValue)
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
