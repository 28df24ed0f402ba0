package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// CreateOutput creates a topic for records that carry the timestamps of records in
// the input topics, unless it exists. Its retention is the longest of the inputs:
// with a shorter one, a broker would delete predictions for old records as soon as
// they are written.
func CreateOutput(ctx context.Context, c *ingest.Client, name string, partitions int, inputs []string) error {
	config := map[string]string{"cleanup.policy": "delete"}
	longest := int64(0)
	for _, in := range inputs {
		t, err := c.Topic(ctx, in)
		if err != nil {
			return err
		}
		if longest = max(longest, t.RetentionMs); t.RetentionMs < 0 {
			longest = -1
			break
		}
	}
	if longest != 0 {
		config["retention.ms"] = strconv.FormatInt(longest, 10)
	}
	// Since Apache Kafka 4.0, a timestamp an hour ahead of the broker's clock is
	// rejected by default. A timestamp that the input topic has accepted must be
	// valid here too.
	config[ingest.AfterMax] = strconv.FormatInt(math.MaxInt64, 10)
	if err := c.Create(ctx, name, partitions, config); err != nil {
		return fmt.Errorf("creating topic %q: %w", name, err)
	}
	return nil
}

// Output looks up an output topic. It returns ErrOutput if the topic's
// max.message.bytes is less than MinMessageBytes.
func Output(ctx context.Context, c *ingest.Client, name string) (ingest.Topic, error) {
	t, err := c.Topic(ctx, name)
	if err == nil && t.MaxMessageBytes < MinMessageBytes {
		err = fmt.Errorf("%w: topic %q has max.message.bytes=%d: set it to at least %d", ErrOutput, name, t.MaxMessageBytes, MinMessageBytes)
	}
	return t, err
}

// ErrOutput: an output topic cannot be used as it is.
var ErrOutput = errors.New("output topic cannot be used")

// Row decodes a record. If the value has no key, the row has the key of the
// record. The key is valid for as long as the record is.
func Row(d *decode.Decoder, r *ingest.Record) (decode.Row, error) {
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
