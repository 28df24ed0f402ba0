package record

import (
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/learner"
)

// Late says by what a record is joined with another one, if labels come in records of their
// own.
type Late struct {
	Key  string
	Time int64         // milliseconds since 1970
	Only bool          // the record has a label without features
	Of   learner.Label // the label, if Only
}

// IsLabel reports whether a record has only a label, to be joined with features that came in
// another record.
func IsLabel(d *decode.Decoder, topic string, r *ingest.Record) bool {
	c := d.Late()
	switch {
	case c == nil:
		return false
	case c.Topic != "":
		return topic == c.Topic
	}
	return readable(r) == nil && d.LabelAlone(r.Value)
}

// DecodeLabel decodes a record for which IsLabel is true.
func DecodeLabel(d *decode.Decoder, r *ingest.Record) (l Late, err error) {
	if err := readable(r); err != nil {
		return l, err
	}
	c := d.Late()
	if l, err = joined(c, c.Of(), r, labelKey(d, r)); err != nil {
		return l, err
	}
	l.Only = true
	l.Of, err = d.LateLabel(r.Value)
	return l, err
}

// Joined returns by what a record with features is joined with its label. key is the key of
// its row.
func Joined(d *decode.Decoder, r *ingest.Record, key []byte) (Late, error) {
	return joined(d.Late(), d.Late().Key, r, key)
}

func joined(c *join.Config, source string, r *ingest.Record, key []byte) (l Late, err error) {
	if name, ok := join.Header(source); ok {
		key = nil
		for i := range r.Headers {
			if r.Headers[i].Key == name {
				key = r.Headers[i].Value
			}
		}
		if len(key) == 0 {
			return l, fmt.Errorf("it has no header %q, by which labels are joined", name)
		}
	} else if path, ok := join.Field(source); ok {
		if key, err = decode.KeyAt(r.Value, path); err != nil {
			return l, err
		}
	}
	if len(key) == 0 {
		return l, errors.New("it has no key, by which labels are joined")
	}
	if len(key) > maxJoinKey {
		return l, fmt.Errorf("its key, by which labels are joined, has %d bytes, the limit is %d", len(key), maxJoinKey)
	}
	l.Key, l.Time = string(key), timestamp(r)
	if c.Time != "" {
		l.Time, err = decode.TimeAt(r.Value, c.Time, c.Zones)
	}
	return l, err
}

// TimeOf returns the time of a record with features or a label, or math.MinInt64 if it has
// none.
func TimeOf(c *join.Config, r *ingest.Record) int64 {
	if c.Time == "" {
		return timestamp(r)
	}
	if r.Unread == nil && r.Value != nil {
		if at, err := decode.TimeAt(r.Value, c.Time, c.Zones); err == nil {
			return at
		}
	}
	return math.MinInt64
}

// maxTime bounds times, in milliseconds, so that the TTL can be added to them. decode.TimeAt
// has the same bound.
const maxTime = 1e15

// timestamp returns the timestamp of a record, limited to maxTime because it may be any number.
func timestamp(r *ingest.Record) int64 { return max(-maxTime, min(maxTime, r.Time)) }

// maxJoinKey is the maximum length in bytes of a key by which labels are joined, because a
// model holds many such keys.
const maxJoinKey = 256

// labelKey returns the key of a record with a label if the configuration names no source for
// it: the field input.key if the record has it, otherwise the key of the record.
func labelKey(d *decode.Decoder, r *ingest.Record) []byte {
	if field := d.KeyField(); field != "" && d.Late().Of() == "" {
		if key, err := decode.KeyAt(r.Value, field); err == nil {
			return key
		}
	}
	return r.Key
}

// readable returns an error for a record that has no value to decode.
func readable(r *ingest.Record) error {
	switch {
	case len(r.Headers) > ingest.MaxHeaders:
		return fmt.Errorf("more than %d headers", ingest.MaxHeaders)
	case r.Unread != nil:
		return r.Unread
	case r.Value == nil:
		return errors.New(noValue)
	}
	return nil
}
