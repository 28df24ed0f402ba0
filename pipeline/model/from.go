package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// From is the position at which a new model begins to read its inputs. The zero value is the first
// record of each partition.
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
		topic, partition, offset, ok := ParsePosition(part, "/", ":")
		if !ok {
			return f, fmt.Errorf("%q: want earliest, latest, a time such as 2026-03-01T00:00:00Z, or TOPIC/PARTITION:OFFSET,…", text)
		}
		if _, twice := f.Offsets[topic][partition]; twice {
			return f, fmt.Errorf("%q has two offsets for %s/%d", text, topic, partition)
		}
		if f.Offsets[topic] == nil {
			f.Offsets[topic] = map[int32]int64{}
		}
		f.Offsets[topic][partition] = offset
	}
	return f, nil
}

// ParsePosition reads a topic, a partition and an offset with separators between them. The topic may
// contain the separators. It reports whether text is of this form and no number is negative.
func ParsePosition(text, beforePartition, beforeOffset string) (topic string, partition int32, offset int64, ok bool) {
	place, number, found := cutLast(text, beforeOffset)
	topic, part, placed := cutLast(place, beforePartition)
	p, bad := strconv.ParseInt(part, 10, 32)
	offset, worse := strconv.ParseInt(number, 10, 64)
	return topic, int32(p), offset, found && placed && topic != "" && bad == nil && worse == nil && p >= 0 && offset >= 0
}

// cutLast cuts s around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
