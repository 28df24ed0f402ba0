package serve

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// reader reads one partition on, past what is not there any more. It is for one
// goroutine.
type reader struct {
	*Scorer
	fetcher *ingest.Fetcher
	part    *part
	epoch   int32     // leader epoch of what was read last; -1: unknown
	leader  int32     // epoch of the leader that gave the last answer
	held    int64     // by what was read last, of the budget
	since   time.Time // when the partition was first seen to end before next; zero: it was not
}

func (s *Scorer) reader(p *part) *reader {
	return &reader{Scorer: s, fetcher: s.config.Client.Fetcher(p.topic, p.partition).Within(s.reads), part: p, epoch: -1, leader: -1}
}

// readBytes is the memory of what has been read of all partitions and is not
// scored yet; a larger batch goes alone.
const readBytes = 32 << 20

// truncationPersists is how long a partition has to end before a record that was
// read to count as truncated, where its leader cannot tell.
const truncationPersists = 5 * time.Second

// poll reads on from where the part stands. Records that were deleted before it
// came there are passed and reported, and so is a truncation, behind which it
// reads what is in their place.
func (r *reader) poll(ctx context.Context) (got ingest.Fetched, err error) {
	p := r.part
	r.release()
	for pause := new(ingest.Backoff); ; {
		err = r.retry(ctx, func() (err error) {
			got, err = r.fetcher.Poll(ctx, p.next)
			return err
		})
		var lost *ingest.LostRange
		var past *ingest.PastEnd
		switch {
		case errors.As(err, &lost):
			r.config.Report(Lost{p.topic, p.partition, p.next, lost.LogStart})
			p.next, r.epoch = lost.LogStart, -1
			continue
		case errors.As(err, &past):
		case err != nil:
			return got, err
		case got.Leader == r.leader || r.epoch < 0:
			return r.read(got), nil
		}
		r.held = got.Held
		r.release()
		end, truncated, err := r.truncated(ctx, past)
		switch {
		case err != nil:
			return got, err
		case truncated:
			r.config.Report(Truncated{p.topic, p.partition, p.next, end})
			p.next, r.epoch, r.since = end, -1, time.Time{}
		case past == nil: // it is the same log under another leader
			r.leader = got.Leader
		default: // a broker that has just come back may not know yet how far it goes
			if err := pause.Pause(ctx, past); err != nil {
				return got, err
			}
		}
	}
}

// release gives back what was read last, all of which is answered.
func (r *reader) release() {
	r.reads.Release(r.held)
	r.held = 0
}

func (r *reader) read(got ingest.Fetched) ingest.Fetched {
	r.held = got.Held
	r.leader, r.since = got.Leader, time.Time{}
	if got.Next > r.part.next {
		r.epoch = got.Epoch
	}
	return got
}

// truncated asks whether the log has lost what was read of it, and where it ends
// then.
func (r *reader) truncated(ctx context.Context, past *ingest.PastEnd) (end int64, yes bool, err error) {
	var known bool
	err = r.retry(ctx, func() (err error) {
		end, yes, known, err = r.fetcher.Truncated(ctx, r.part.next, r.epoch)
		return err
	})
	if err != nil || yes || known || past == nil {
		return end, yes, err
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	return past.End, time.Since(r.since) > truncationPersists, nil
}
