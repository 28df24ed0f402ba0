package pipeline

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
)

// From is where a new model begins to read its inputs. The zero value is the first record
// of each partition.
type From struct {
	Latest  bool                       // the current end
	Time    time.Time                  // the first record with this time or a later one; zero: none
	Offsets map[string]map[int32]int64 // by topic and partition; other partitions begin at their first record
}

// ParseFrom reads "earliest", "latest", a time (RFC 3339), or a list such as
// "payments/0:1200,payments/1:980".
func ParseFrom(text string) (f From, err error) {
	switch text {
	case "", "earliest":
		return f, nil
	case "latest":
		return From{Latest: true}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return From{Time: at}, nil
	}
	f.Offsets = map[string]map[int32]int64{}
	for _, part := range strings.Split(text, ",") {
		place, number, found := cut(part, ":")
		topic, partition, placed := cut(place, "/")
		p, bad := strconv.ParseInt(partition, 10, 32)
		offset, worse := strconv.ParseInt(number, 10, 64)
		if !found || !placed || topic == "" || bad != nil || worse != nil || p < 0 || offset < 0 {
			return f, fmt.Errorf("%q: want earliest, latest, a time such as 2026-03-01T00:00:00Z, or TOPIC/PARTITION:OFFSET,…", text)
		}
		if _, twice := f.Offsets[topic][int32(p)]; twice {
			return f, fmt.Errorf("%q has two offsets for %s", text, place)
		}
		if f.Offsets[topic] == nil {
			f.Offsets[topic] = map[int32]int64{}
		}
		f.Offsets[topic][int32(p)] = offset
	}
	return f, nil
}

// cut cuts s around the last separator.
func cut(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// positions returns the position of each input.
func (f From) positions(ctx context.Context, c Config, ins input.Partitions) (at []snapshot.Position, err error) {
	for topic, offsets := range f.Offsets {
		for p := range offsets {
			if ins.Find(topic, p) == nil {
				return nil, fmt.Errorf("%w: %s/%d is not among the inputs", ErrStart, topic, p)
			}
		}
	}
	var first, end, found []int64
	for i, in := range ins {
		if i == 0 || in.Topic != ins[i-1].Topic {
			if first, end, err = input.Offsets(ctx, c.Client, in.Topic, c.Report); err != nil {
				return nil, err
			}
			if !f.Time.IsZero() {
				err = input.Retry(ctx, c.Report, func() (err error) {
					found, err = c.Client.OffsetsAt(ctx, in.Topic, f.Time)
					return err
				})
				if err != nil {
					return nil, err
				}
			}
		}
		next := first[in.Partition]
		offset, named := f.Offsets[in.Topic][in.Partition]
		switch {
		case named && (offset < next || offset > end[in.Partition]):
			return nil, fmt.Errorf("%w: offset %d of %v does not exist: it has the offsets %d to %d", ErrStart, offset, in, next, end[in.Partition])
		case named:
			next = offset
		case f.Latest:
			next = end[in.Partition]
		case !f.Time.IsZero():
			next = found[in.Partition]
		}
		at = append(at, snapshot.Position{Topic: in.Topic, TopicID: in.ID, Partition: in.Partition, Next: next})
	}
	return at, nil
}
