package record

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
)

// CreateOutputTopic creates a topic for records that carry the timestamps of records in
// the input topics, unless it exists. Its retention is the longest of the inputs:
// with a shorter one, a broker would delete predictions for old records as soon as
// they are written.
func CreateOutputTopic(ctx context.Context, c *ingest.Client, name string, partitions int, inputs []string) error {
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
	// rejected by default. A timestamp that the input topic has accepted, perhaps long
	// ago, must be valid here too.
	config[ingest.BeforeMax], config[ingest.AfterMax] = ingest.AnyTime, ingest.AnyTime
	if err := c.Create(ctx, name, partitions, config); err != nil {
		return fmt.Errorf("create topic %q: %w", name, err)
	}
	return nil
}

// OutputTopic looks up an output topic. It returns ErrOutput if the topic's
// max.message.bytes is less than MinMessageBytes.
func OutputTopic(ctx context.Context, c *ingest.Client, name string) (ingest.Topic, error) {
	t, err := c.Topic(ctx, name)
	if err == nil && t.MaxMessageBytes < MinMessageBytes {
		err = fmt.Errorf("%w: topic %q has max.message.bytes=%d: set it to at least %d", ErrOutput, name, t.MaxMessageBytes, MinMessageBytes)
	}
	return t, err
}

// ErrOutput is the error for an output topic that cannot be used as it is.
var ErrOutput = errors.New("cannot use the output topic")
