package serve

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// reader reads one partition and continues after records that were deleted or
// truncated. It must not be used concurrently.
type reader struct {
	*Scorer
	fetcher *ingest.Fetcher
	part    *part
	epoch   int32     // leader epoch of the last batch read; -1: unknown
	leader  int32     // epoch of the leader that sent the last response
	held    int64     // bytes of the budget held by the last records read
	since   time.Time // when the partition was first seen to end before next; zero: never
}

func (s *Scorer) reader(p *part) *reader {
	return &reader{Scorer: s, fetcher: s.config.Client.Fetcher(p.topic, p.partition).Within(s.reads), part: p, epoch: -1, leader: -1}
}

// readBytes is the memory budget for records of all partitions that have been
// read and not scored yet. A batch that is larger than the budget is read alone.
const readBytes = 32 << 20

// truncationPersists matters if the leader of a partition cannot tell whether it was
// truncated. The partition then counts as truncated once it has ended before a record
// that was already read for this long.
const truncationPersists = 5 * time.Second

// poll reads the next records of the partition. Records that were deleted before they
// were read are reported and skipped. A truncation is reported as well, and poll
// continues with the records written in place of the truncated ones. A topic that was
// deleted and created again is read from its beginning.
func (r *reader) poll(ctx context.Context) (got ingest.Fetched, err error) {
	p := r.part
	r.release()
	for pause := new(ingest.Backoff); ; {
		failed := false // as it does while a topic does not exist
		err = ingest.Retry(ctx, func(err error) { r.config.Report(Retrying{err, p.topic, p.partition}) }, func() (err error) {
			got, err = r.fetcher.Poll(ctx, p.next)
			failed = failed || err != nil
			return err
		})
		var gap *ingest.GapError
		var past *ingest.PastEnd
		switch {
		case errors.As(err, &gap):
			r.config.Report(Gap{p.topic, p.partition, p.next, gap.LogStart})
			p.next, r.epoch = gap.LogStart, -1
			continue
		case errors.As(err, &past):
		case err != nil:
			return got, err
		case !failed && (got.Leader == r.leader || r.epoch < 0):
			return r.read(got), nil
		}
		r.held = got.Held
		r.release()
		recreated, err := r.recreated(ctx)
		if err != nil {
			return got, err
		}
		if recreated {
			r.config.Report(Truncated{p.topic, p.partition, p.next, 0, true})
			p.next, r.epoch, r.leader, r.since = 0, -1, -1, time.Time{}
			continue
		}
		end, truncated, err := r.truncated(ctx, past)
		switch {
		case err != nil:
			return got, err
		case truncated:
			r.config.Report(Truncated{p.topic, p.partition, p.next, end, false})
			p.next, r.epoch, r.since = end, -1, time.Time{}
		case past == nil: // the same log under another leader
			r.leader = got.Leader
		default: // a broker that has just restarted may not know the end of the log yet
			if err := pause.Pause(ctx, past); err != nil {
				return got, err
			}
		}
	}
}

// release returns to the budget the memory of the records read last. They must all
// have been scored.
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

// recreated reports whether the topic was deleted and created again since the partition was taken
// or since recreated was called.
func (r *reader) recreated(ctx context.Context) (yes bool, err error) {
	var id [16]byte
	err = r.retry(ctx, func() (err error) {
		id, err = r.config.Client.TopicID(ctx, r.part.topic)
		return err
	})
	if unknown := [16]byte{}; err != nil || id == unknown || id == r.part.id {
		return false, err
	}
	yes = r.part.id != [16]byte{}
	r.part.id = id
	return yes, nil
}

// truncated reports whether the log has lost records that were read, and if so
// where it ends.
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
