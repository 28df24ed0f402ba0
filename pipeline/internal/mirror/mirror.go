// Package mirror finds positions of a topic in another topic that has the same records at other
// offsets: one that was created again, or that mirrors it.
package mirror

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Err means that it cannot be determined at which position a new topic continues another one.
var Err = errors.New("topic cannot be adopted")

// Topic is a topic that replaces another.
type Topic struct {
	Client  *ingest.Client
	Was     string // the old one
	Now     string // name of the new one
	Decided []modellog.Range
	Report  func(event.Event)
}

// Start selects a position in the new topic. The zero value is the position after the record that
// was decided last.
type Start struct {
	Earliest, End bool            // at the first record; after the last one
	Offsets       map[int32]int64 // next offset by partition; overrides the others
}

// Decided returns the ranges of all BATCHes up to seq that are in the log, without ranges that have
// no records.
func Decided(f *modellog.Fold, seq int64) (out []modellog.Range) {
	from, _ := f.Oldest()
	for _, e := range from.Entries {
		if b, ok := e.Record.(*modellog.Batch); ok && b.Seq <= seq {
			for _, r := range b.Ranges {
				if r.Records > 0 {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// Adopted returns where to continue in each partition of the new topic.
func (m *Topic) Adopted(ctx context.Context, at Start, reached []snapshot.Position) (in modellog.Adopted, err error) {
	id, n, err := m.Client.Partitions(ctx, m.Now)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return in, fmt.Errorf("%w: topic %q, which replaces %q, does not exist: create it, or name another one (--topic %s=NEW)", Err, m.Now, m.Was, m.Was)
	}
	if err != nil {
		return in, err
	}
	first, end, err := input.Offsets(ctx, m.Client, m.Now, m.Report)
	if err != nil {
		return in, err
	}
	in = modellog.Adopted{Topic: m.Was, NewID: id}
	if m.Now != m.Was {
		in.NewTopic = m.Now
	}
	for _, p := range reached {
		if p.Topic != m.Was {
			continue
		}
		if int(p.Partition) >= n {
			return in, fmt.Errorf("%w: the model has learned from %s/%d, but topic %q has only %d partitions", Err, p.Topic, p.Partition, m.Now, n)
		}
		in.TopicID = p.TopicID
		s := search{Topic: m, was: p, first: first[p.Partition], end: end[p.Partition]}
		s.fetcher = m.Client.Fetcher(m.Now, int(p.Partition))
		next := modellog.AdoptedPartition{Partition: p.Partition, From: p.Next}
		if next.Next, next.Fingerprint, err = s.position(ctx, at); err != nil {
			return in, err
		}
		in.Partitions = append(in.Partitions, next)
	}
	return in, nil
}
