package input

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// lastRead is the position in a partition and the last record that was read from it. They serve to
// recognise the log of the partition.
type lastRead struct {
	next        int64 // first offset not read; 0: nothing was read
	epoch       int32 // leader epoch of the records before next; -1: unknown
	offset      int64 // of the last record; -1: unknown
	fingerprint uint64
}

// witness reads a partition and verifies that it is still the log that was learned from:
//
//   - The topic has the same id, which is unique.
//   - The leader epochs show that the log was not truncated (KIP-320).
//   - The record last read is still at its offset.
//
// It verifies this after every event that may have changed the log, and before it returns any
// record that was read since the event.
type witness struct {
	client  *ingest.Client
	fetcher *ingest.Fetcher
	in      *Partition
	report  func(event.Event)
	budget  *ingest.Budget // nil: unlimited

	read        lastRead
	doubt       bool      // since the last check, something happened that may have changed the log
	checked     time.Time // time of the last check
	connections int64     // number of the newest connection at the last check
	leader      int32     // epoch of the leader that gave the last response
	first, high int64     // log start offset and high watermark in that response
	known       bool      // the leader could confirm at the last check that the log is not truncated
}

const (
	// identityEvery is the interval at which the id of a topic is checked while
	// records are read and nothing indicates a deletion.
	identityEvery = time.Second

	// truncationPersists is how long a partition has to end before a record that was read, until it
	// counts as truncated. It applies if the leader cannot tell: a broker that has just restarted
	// may not know the end of the log yet.
	truncationPersists = 5 * time.Second
)

func newWitness(c *ingest.Client, in *Partition, b *ingest.Budget, report func(event.Event)) *witness {
	w := &witness{client: c, fetcher: c.Fetcher(in.Topic, int(in.Partition)).Within(b), budget: b, in: in, report: report, doubt: true, read: in.mark}
	if w.read.next == 0 {
		w.read = lastRead{epoch: -1, offset: -1}
	}
	return w
}

// poll reads from offset. It returns *ingest.GapError unchanged, and ErrHistory if the
// topic is another one or was truncated.
func (w *witness) poll(ctx context.Context, offset int64) (ingest.Fetched, error) {
	var since time.Time // time of the first response by which the partition ends before offset
	for pause := new(ingest.Backoff); ; {
		got, err := Poll(ctx, w.fetcher, offset, func(ev event.Event) {
			w.doubt = true
			w.report(ev)
		})
		var past *ingest.PastEnd
		var gap *ingest.GapError
		switch {
		case err == nil:
			w.doubt = w.doubt || w.suspects(&got)
		case errors.As(err, &past), errors.As(err, &gap):
			w.doubt = true
		default:
			return got, err
		}
		settled := true
		if w.doubt || got.Next > offset && time.Since(w.checked) > identityEvery {
			var err error
			if settled, err = w.check(ctx, offset); err != nil {
				return got, err
			}
		}
		switch {
		case past != nil:
			if since.IsZero() {
				since = time.Now()
			}
			if !w.known && time.Since(since) > truncationPersists {
				return got, w.truncated(offset, past.End)
			}
		case gap != nil:
			w.read = lastRead{next: gap.LogStart, epoch: -1, offset: -1}
			return got, err
		case settled || got.Next == offset: // settled, or the response has no records that could belong to another log
			w.take(&got)
			return got, nil
		}
		if w.budget != nil {
			w.budget.Release(got.Held)
		}
		if stop := pause.Pause(ctx, err); stop != nil {
			return got, stop
		}
	}
}

// suspects reports whether the log may have changed since the last check: there is
// another leader or a newer connection, or one of the ends has moved back.
func (w *witness) suspects(got *ingest.Fetched) bool {
	return got.Leader != w.leader || got.Connection > w.connections || got.HighWatermark < w.high || got.LogStart < w.first
}

// take records what was read.
func (w *witness) take(got *ingest.Fetched) {
	w.leader, w.high, w.first = got.Leader, got.HighWatermark, got.LogStart
	if got.Next > w.read.next && got.Epoch >= 0 || len(got.Records) > 0 {
		w.read.next, w.read.epoch = got.Next, got.Epoch
	}
	if n := len(got.Records); n > 0 {
		w.read.offset, w.read.fingerprint = got.Records[n-1].Offset, Fingerprint(&got.Records[n-1])
	}
}

// truncated returns the error for a log that was truncated to the offset end.
func (w *witness) truncated(next, end int64) error {
	return fmt.Errorf("%w: %v was read up to offset %d, but was truncated to offset %d: records %d to %d were lost and may have been replaced by others, for example by an unclean leader election, or by a broker that lost unsynced data", ErrHistory, w.in, next, end, end, next-1)
}

// check verifies that the topic and its log are still those that were read. settled
// is false if that cannot be decided yet.
func (w *witness) check(ctx context.Context, offset int64) (settled bool, err error) {
	err = Retry(ctx, w.report, func() error {
		connections := w.client.Connections()
		id, _, err := w.client.Partitions(ctx, w.in.Topic)
		if err != nil {
			return err
		}
		if !ingest.SameTopic(id, w.in.ID) && !planted.Fault("recreated") {
			return Recreated(w.in.Topic)
		}
		settled = true
		if w.doubt {
			if settled, err = w.sameLog(ctx, offset); err != nil {
				return err
			}
		}
		if settled {
			w.checked, w.doubt, w.connections = time.Now(), false, connections
		}
		return nil
	})
	return settled, err
}

// sameLog compares the log with what was read of it. settled is false while the log of
// the broker is shorter than what was read and its true end is unknown.
func (w *witness) sameLog(ctx context.Context, offset int64) (settled bool, err error) {
	next := max(w.read.next, offset)
	if next == 0 || planted.Fault("truncated") {
		return true, nil
	}
	end, truncated, known, err := w.client.Truncated(ctx, w.in.Topic, int(w.in.Partition), next, w.read.epoch)
	if err != nil {
		return false, err
	}
	if truncated || planted.Fault("election") && w.leader > 0 {
		return false, w.truncated(next, end)
	}
	w.known = known
	if w.read.offset < 0 {
		return true, nil
	}
	got, err := w.fetcher.Peek(ctx, w.read.offset)
	var gap *ingest.GapError
	var past *ingest.PastEnd
	switch {
	case errors.As(err, &gap): // deleted by retention; the caller decides where to continue
		return true, nil
	case errors.As(err, &past):
		return false, nil
	case err != nil:
		return false, err
	case got.End <= w.read.offset:
		return false, nil
	case len(got.Records) == 0 || Fingerprint(&got.Records[0]) != w.read.fingerprint:
		return false, replaced(w.in, w.read.offset)
	}
	return true, nil
}
