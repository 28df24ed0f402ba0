package quarantine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
)

// Entry is a record in quarantine.
type Entry struct {
	Partition int   // of the quarantine topic
	Offset    int64 // in the quarantine topic
	record.Rejected
	Replayed bool // whether it, or a copy of it, was already sent back
}

// ErrCompacted reports a quarantine topic that is compacted. It may lose markers, so that
// records cannot be replayed exactly once.
var ErrCompacted = errors.New("quarantine topic is compacted")

// Topic is the content of a quarantine topic up to its end at the time of Read.
type Topic struct {
	client     *ingest.Client
	name       string
	first, end []int64 // by partition
	done       map[identity]struct{}
	report     func(error)
}

// Read reads all markers of a quarantine topic, up to its current end. It calls report with
// each error after which it retries. If settled is true, the end includes the records of open
// transactions, so that Read waits until these have ended.
func Read(ctx context.Context, c *ingest.Client, name string, settled bool, report func(error)) (*Topic, error) {
	t := &Topic{client: c, name: name, done: map[identity]struct{}{}, report: report}
	about, err := c.Topic(ctx, name)
	if err != nil {
		return nil, err
	}
	if strings.Contains(about.CleanupPolicy, "compact") {
		return nil, fmt.Errorf("%w: %q has cleanup.policy=%s: set it to delete", ErrCompacted, name, about.CleanupPolicy)
	}
	err = ingest.Retry(ctx, report, func() error {
		var err error
		t.first, t.end, err = c.Offsets(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if settled {
		for p := range t.end {
			if t.end[p], err = t.highWatermark(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	return t, t.each(ctx, func(_ int, r *ingest.Record) error {
		for _, id := range readMarker(r) {
			t.done[id] = struct{}{}
		}
		return nil
	})
}

// highWatermark returns the end of a partition, including open transactions.
func (t *Topic) highWatermark(ctx context.Context, p int) (int64, error) {
	f := t.client.Fetcher(t.name, p)
	var end int64
	err := ingest.Retry(ctx, t.report, func() error {
		got, err := f.Poll(ctx, t.end[p])
		var lost *ingest.GapError
		if errors.As(err, &lost) {
			t.end[p] = lost.LogStart
			got, err = f.Poll(ctx, t.end[p])
		}
		end = got.HighWatermark
		return err
	})
	return end, err
}

// Each calls f with the records in quarantine, one partition after the other and in order,
// until f returns an error. foreign is the number of other records, not counting markers. An
// Entry is valid until f returns.
func (t *Topic) Each(ctx context.Context, f func(*Entry) error) (foreign int64, err error) {
	err = t.each(ctx, func(p int, r *ingest.Record) error {
		rejected, err := record.ReadQuarantined(*r)
		if err != nil {
			if readMarker(r) == nil {
				foreign++
			}
			return nil
		}
		e := &Entry{Partition: p, Offset: r.Offset, Rejected: rejected}
		_, e.Replayed = t.done[e.identity()]
		return f(e)
	})
	return foreign, err
}

// each calls f with all records. It leaves out records that retention deletes in the meantime.
func (t *Topic) each(ctx context.Context, f func(partition int, r *ingest.Record) error) error {
	for p := range t.end {
		from := t.client.Fetcher(t.name, p)
		for next := t.first[p]; next < t.end[p]; {
			var got ingest.Fetched
			err := ingest.Retry(ctx, t.report, func() error {
				var err error
				got, err = from.Poll(ctx, next)
				return err
			})
			var lost *ingest.GapError
			if errors.As(err, &lost) {
				next = lost.LogStart
				continue
			}
			if err != nil {
				return err
			}
			for i := range got.Records {
				if r := &got.Records[i]; r.Offset < t.end[p] {
					if err := f(p, r); err != nil {
						return err
					}
				}
			}
			next = got.Next
		}
	}
	return nil
}

// identity is the first half of the SHA-256 of the origin and the content of a record.
type identity [16]byte

func (e *Entry) identity() (id identity) {
	sum := sha256.New()
	number := func(n int64) { sum.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	add := func(b []byte) {
		if b == nil {
			number(-1)
			return
		}
		number(int64(len(b)))
		sum.Write(b)
	}
	r := &e.Original
	add([]byte(e.Topic))
	number(int64(e.Rejected.Partition))
	number(e.Rejected.Offset)
	number(r.Time)
	add(r.Key)
	add(r.Value)
	for _, h := range r.Headers {
		add([]byte(h.Key))
		add(h.Value)
	}
	return identity(sum.Sum(nil))
}
