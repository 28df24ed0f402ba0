package input

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Retry calls ingest.Retry and reports each failed attempt as an event.
func Retry(ctx context.Context, report func(event.Event), f func() error) error {
	return ingest.Retry(ctx, func(err error) { report(event.Retrying{Err: err}) }, f)
}

// Poll polls until a broker answers.
func Poll(ctx context.Context, f *ingest.Fetcher, offset int64, report func(event.Event)) (got ingest.Fetched, err error) {
	err = Retry(ctx, report, func() (err error) {
		got, err = f.Poll(ctx, offset)
		return err
	})
	return got, err
}

// Offsets returns the first and the stable end offset of each partition of a topic. It
// repeats the request while the leader of a partition is unknown, as it is directly
// after the restart of a broker. It returns ErrUnknownTopic at once.
func Offsets(ctx context.Context, c *ingest.Client, topic string, report func(event.Event)) (first, end []int64, err error) {
	var unknown error
	err = Retry(ctx, report, func() (err error) {
		if first, end, err = c.Offsets(ctx, topic); errors.Is(err, ingest.ErrUnknownTopic) {
			unknown, err = err, nil
		}
		return err
	})
	if unknown != nil {
		err = unknown
	}
	return first, end, err
}

// Cursor reads ranges of offsets of a partition, such as those in the model log.
type Cursor struct {
	fetcher *ingest.Fetcher
	budget  *ingest.Budget // of fetcher; nil: unlimited
	next    int64
	ahead   []ingest.Record
	reached int64 // every record before it is in ahead or was taken
	held    int64 // bytes of the budget that ahead holds
}

// NewCursor returns a Cursor that reads ahead no more than one response of the broker.
func NewCursor(f *ingest.Fetcher) *Cursor { return &Cursor{fetcher: f, next: -1} }

// Take returns copies of the records in [from, to).
func (c *Cursor) Take(ctx context.Context, from, to int64, report func(event.Event)) (took []ingest.Record, err error) {
	if from != c.next {
		c.next = from
		c.drop()
	}
	var since time.Time // time of the first response by which the log ends before to
	for {
		n := 0
		for n < len(c.ahead) && c.ahead[n].Offset < to {
			n++
		}
		took = AppendCopies(took, c.ahead[:n])
		if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
			c.release()
		}
		if c.reached >= to {
			c.next = to
			return took, nil
		}
		got, err := Poll(ctx, c.fetcher, c.reached, report)
		if err == nil && got.Next == c.reached && got.HighWatermark < to {
			if since.IsZero() {
				since = time.Now()
			}
			err = c.ended(ctx, to, time.Since(since), got.HighWatermark, report)
		}
		c.ahead, c.held = got.Records, got.Held
		if err != nil {
			c.drop()
			return nil, err
		}
		c.reached = got.Next
	}
}

// drop discards what was read ahead. Take then reads it again.
func (c *Cursor) drop() {
	c.reached = c.next
	c.release()
}

func (c *Cursor) release() {
	c.ahead = nil
	if c.budget != nil {
		c.budget.Release(c.held)
	}
	c.held = 0
}

// ended returns *ingest.PastEnd if the log ends before the offset to, unless that may
// be temporary: a broker that has just restarted may not know its end yet.
func (c *Cursor) ended(ctx context.Context, to int64, waited time.Duration, end int64, report func(event.Event)) error {
	var truncated, known bool
	err := Retry(ctx, report, func() (err error) {
		_, truncated, known, err = c.fetcher.Truncated(ctx, to, -1)
		return err
	})
	if err == nil && (truncated || !known && waited > truncationPersists) {
		return c.fetcher.PastEnd(to, end)
	}
	return err
}
