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

// CreateOutput makes a topic whose records carry the times of records in the
// input topics, unless it is there. It keeps them as long as the inputs keep
// theirs: under a shorter retention a broker deletes answers to old records as
// soon as they are written.
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
	// Since Apache Kafka 4.0 a time an hour ahead of the broker is refused by
	// default; what the input topic has taken its answers must be able to carry.
	config[ingest.AfterMax] = strconv.FormatInt(math.MaxInt64, 10)
	if err := c.Create(ctx, name, partitions, config); err != nil {
		return fmt.Errorf("creating topic %q: %w", name, err)
	}
	return nil
}

// Output looks up a topic that records are written to, which has to take some of a
// decent size.
func Output(ctx context.Context, c *ingest.Client, name string) (ingest.Topic, error) {
	t, err := c.Topic(ctx, name)
	if err == nil && t.MaxMessageBytes < MinMessageBytes {
		err = fmt.Errorf("%w: topic %q has max.message.bytes=%d: set it to at least %d", ErrOutput, name, t.MaxMessageBytes, MinMessageBytes)
	}
	return t, err
}

// ErrOutput: an output topic cannot be used as it is.
var ErrOutput = errors.New("output topic cannot be used")

// Row decodes a record, if it is one that can be. Where the value has no key, the
// row has the record's. The key is good for as long as the record is.
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

// Quarantined is a record of a topic that could not be read, as it goes to a
// quarantine topic whose largest batch is limit: as it came, with Kafka Connect's
// headers that say whence and why, or as much of it as the topic takes.
func Quarantined(topic string, partition int32, r *ingest.Record, why error, limit int) ingest.Record {
	return bounded(*r, []ingest.Header{
		{Key: "__connect.errors.topic", Value: []byte(topic)},
		{Key: "__connect.errors.partition", Value: strconv.AppendInt(nil, int64(partition), 10)},
		{Key: "__connect.errors.offset", Value: strconv.AppendInt(nil, r.Offset, 10)},
		{Key: "__connect.errors.stage", Value: []byte("VALUE_CONVERTER")},
		{Key: "__connect.errors.exception.message", Value: []byte(Reason(why))},
	}, limit)
}
