// Package kafkalog reads a model log from Kafka. It checks the same invariant for the learner, the
// scorers, verify and inspect:
//
//   - The topic is still the one with which reading began.
//   - Its end never moves back, and no offsets are missing.
//   - No decision in its records is missing or repeated.
//   - The configuration of the topic retains the records.
package kafkalog

import (
	"context"
	"crypto/ed25519"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Config selects a log and how to read it.
type Config struct {
	Client *ingest.Client
	Topic  string
	Keep   int               // number of snapshots that the Fold remembers
	Key    ed25519.PublicKey // key whose signatures are trusted; nil: signatures are not verified

	// Tolerant continues to read a broken log, for a caller that repairs it.
	Tolerant bool

	// Retry calls f until it succeeds or its error is not temporary; nil: once.
	Retry func(ctx context.Context, f func() error) error
}

// Log is a model log, read up to some offset. Only one goroutine may use it.
type Log struct {
	Fold *modellog.Fold // fold of the records read
	Size Size           // approximate size of the log

	config  Config
	fetcher *ingest.Fetcher
	id      [16]byte // id of the topic; zero before Kafka 2.8
	next    int64    // first offset not read
	end     int64    // end of the log, as of the last answer
	last    last
	broken  error // sticky

	recheck   bool      // the last record has to be fetched again
	shorterAt time.Time // time since which the log has ended before next; zero if it has not
	keepsAt   time.Time // time of the last check of the configuration
}

// last identifies the last record read.
type last struct {
	offset int64 // -1: none
	digest uint64
	epoch  int32 // of the leader that appended it; -1: unknown
}

// Open looks up the topic and verifies that it retains its records. It does not
// read yet. The error is ingest.ErrUnknownTopic if there is no such topic. If the
// topic does not retain its records, Open returns both the Log and an ErrLog.
func Open(ctx context.Context, c Config) (*Log, error) {
	if c.Retry == nil {
		c.Retry = func(_ context.Context, f func() error) error { return f() }
	}
	l := &Log{config: c, fetcher: c.Client.Fetcher(c.Topic, 0)}
	l.Rewind(0)
	var err error
	if l.id, err = c.Client.TopicID(ctx, c.Topic); err != nil {
		return nil, err
	}
	return l, l.keeps(ctx)
}

// ID returns the id of the topic; zero before Kafka 2.8.
func (l *Log) ID() [16]byte { return l.id }

// Next returns the first offset that was not read.
func (l *Log) Next() int64 { return l.next }

// Rewind discards what was read. Reading begins again at the offset begin.
func (l *Log) Rewind(begin int64) {
	var options []modellog.Option
	if l.config.Key != nil {
		options = append(options, modellog.WithKey(l.config.Key))
	}
	l.Fold, l.next, l.Size = modellog.NewFold(begin, l.config.Keep, options...), begin, Size{}
	l.last = last{offset: -1, epoch: -1}
}

// Bounds returns the first offset of the log and its end. All records that were
// acknowledged before the call lie below the end.
func (l *Log) Bounds(ctx context.Context) (first, end int64, err error) {
	err = l.retry(ctx, func() error {
		firsts, ends, err := l.config.Client.Offsets(ctx, l.config.Topic)
		if err == nil {
			first, end = firsts[0], ends[0]
		}
		return err
	})
	return first, end, err
}

// Tail reads the end of the log, so that the time does not depend on the length of the history. It
// begins at an offset for which enough accepts the fold, or at the beginning of the log.
func (l *Log) Tail(ctx context.Context, enough func(*modellog.Fold) bool, see See) error {
	first, end, err := l.Bounds(ctx)
	if err != nil {
		return err
	}
	from := int64(0)
	err = modellog.Tail(first, end, func(begin, remember int64) (*modellog.Fold, error) {
		from = begin
		l.Rewind(begin)
		l.Fold.Retain(remember)
		return l.Fold, l.ReadOn(ctx, see)
	}, enough)
	if err == nil && from > first && l.next > from {
		l.Size.begin(from-first, l.next-from)
	}
	return err
}

// Recheck makes the next read check the topic and the last record again.
func (l *Log) Recheck() { l.recheck = true }

// Check verifies the invariant and folds the records after the last one read.
func (l *Log) Check(ctx context.Context, see See) error {
	if l.broken != nil {
		return l.broken
	}
	if time.Since(l.keepsAt) > keepsEvery {
		if err := l.keeps(ctx); err != nil {
			return err
		}
	}
	if l.last.offset < 0 {
		if err := l.identify(ctx); err != nil {
			return err
		}
		return l.ReadOn(ctx, see)
	}
	for l.recheck = true; l.recheck || l.next < l.end; {
		if err := l.Poll(ctx, see); err != nil {
			return err
		}
	}
	return nil
}

// Own folds records that the caller has appended at Next, without reading them.
func (l *Log) Own(rs []modellog.Record, written []ingest.Record) {
	for i, r := range rs {
		v := l.Fold.Judge(l.next, r)
		v.Bytes = len(written[i].Value)
		l.Size.add(v)
		l.last = last{l.next, digest(written[i].Key, written[i].Value), -1}
		l.next++
	}
	l.end = max(l.end, l.next)
}

func digest(key, value []byte) uint64 {
	h := xxhash.New()
	h.Write(key)
	h.Write([]byte{0})
	h.Write(value)
	return h.Sum64()
}
