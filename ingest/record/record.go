package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/registry"
)

// noValue is the reason for which a record with the value null is invalid.
const noValue = "the record has no value"

// Decode decodes a record. If the value has no key, the row has the key of the
// record. The key is valid for as long as the record is.
func Decode(d *decode.Decoder, r *ingest.Record) (decode.Row, error) {
	if err := readable(r); err != nil {
		return decode.Row{}, err
	}
	row, err := d.DecodeWith(r.Value, schemaHeader(d, r))
	if row.Key == nil {
		row.Key = r.Key
		d.SetKey(&row)
	} else {
		row.Key = bytes.Clone(row.Key)
	}
	d.SetTime(&row, r.Time)
	return row, err
}

// schemaHeader returns the header that names the schema of a record, if there is one.
func schemaHeader(d *decode.Decoder, r *ingest.Record) []byte {
	if d.Framed() {
		for i := range r.Headers {
			if r.Headers[i].Key == decode.SchemaHeader {
				return r.Headers[i].Value
			}
		}
	}
	return nil
}

// Schemas returns the schemas of a registry, by an id or a GUID.
type Schemas interface {
	// Writer returns registry.ErrUnknown for a schema that does not exist. Any other error
	// may be temporary.
	Writer(ctx context.Context, id string) (decode.Writer, error)
}

// Unknown returns the id of the schema that d needs for r and does not have.
func Unknown(d *decode.Decoder, r *ingest.Record) (id string, unknown bool) {
	if r.Value == nil || r.Unread != nil || !d.Framed() {
		return "", false
	}
	return d.Unknown(r.Value, schemaHeader(d, r))
}

// Learn fetches the schemas that d needs for the records and does not have, adds them to d, and
// returns them. Schemas that do not exist are left out. Learn retries while the registry cannot
// be reached, and calls report with each error.
func Learn(ctx context.Context, d *decode.Decoder, rs []ingest.Record, from Schemas, report func(error)) (learned []decode.Writer, err error) {
	if from == nil || !d.Framed() {
		return nil, nil
	}
	var missing map[string]bool
	for i := range rs {
		id, unknown := Unknown(d, &rs[i])
		if !unknown || missing[id] {
			continue
		}
		w, err := fetch(ctx, id, from, report)
		switch {
		case errors.Is(err, registry.ErrUnknown):
			if missing == nil {
				missing = map[string]bool{}
			}
			missing[id] = true
		case err != nil:
			return learned, err
		case d.Learn(w):
			learned = append(learned, w)
		}
	}
	return learned, nil
}

// fetch requests a schema until the registry responds.
func fetch(ctx context.Context, id string, from Schemas, report func(error)) (w decode.Writer, err error) {
	err = ingest.Retry(ctx, report, func() error {
		var err error
		if w, err = from.Writer(ctx, id); err != nil && !errors.Is(err, registry.ErrUnknown) && ctx.Err() == nil {
			return fmt.Errorf("%w: schema %s: %w", ingest.ErrUnreachable, id, err)
		}
		return err
	})
	return w, err
}
