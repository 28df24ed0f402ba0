package kafkalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// See is called with each record that is folded.
type See func(*ingest.Record, modellog.Verdict)

// ReadOn folds the records after the last one read, up to the end of the log at the time of the
// call. Its errors are ErrLog, *ingest.GapError if the log was trimmed beyond Next, and the errors
// on which Retry gives up.
func (l *Log) ReadOn(ctx context.Context, see See) error {
	_, end, err := l.Bounds(ctx)
	if err != nil {
		return err
	}
	l.recheck = l.recheck || end < l.next
	for l.next < end || l.recheck {
		if err := l.Poll(ctx, see); err != nil {
			return err
		}
	}
	return l.whole()
}

// Poll folds the next records and waits briefly if there are none.
func (l *Log) Poll(ctx context.Context, see See) error {
	if l.broken != nil {
		return l.broken
	}
	at := l.next
	if l.recheck {
		if err := l.identify(ctx); err != nil {
			return err
		}
		if l.last.offset >= 0 {
			at = l.last.offset
		}
	}
	got, err := l.fetch(ctx, at)
	var past *ingest.PastEnd
	var gap *ingest.GapError
	switch {
	case errors.As(err, &past):
		return l.shorter(ctx, past.End)
	case errors.As(err, &gap) && gap.LogStart <= l.next: // the last record was trimmed, which is no loss
		l.recheck, l.last = false, last{offset: -1, epoch: -1}
		return nil
	case err != nil:
		return err
	case got.End < l.next:
		return l.shorter(ctx, got.End)
	}
	if err := l.same(at, got); err != nil {
		return err
	}
	l.recheck, l.shorterAt, l.end = false, time.Time{}, got.End
	if planted.Fault("gap") {
		got.Missing = nil
	}
	if err := l.fold(got, see); err != nil || l.next < l.end {
		return err
	}
	return l.whole()
}

func (l *Log) fold(got ingest.Fetched, see See) error {
	for i := range got.Records {
		r := &got.Records[i]
		if r.Offset < l.next {
			continue
		}
		if at := l.Fold.Next(); at < r.Offset && !missing(got, at, r.Offset) {
			l.Fold.Skip(r.Offset)
		}
		v, err := l.Fold.Add(r.Offset, r.Key, r.Value)
		if err != nil {
			return err
		}
		l.Size.add(v)
		l.last = last{r.Offset, digest(r.Key, r.Value), -1}
		l.next = r.Offset + 1
		if see != nil {
			see(r, v)
		}
	}
	l.next = max(l.next, got.Next)
	if got.Next == l.next && got.Epoch >= 0 {
		l.last.epoch = got.Epoch
	}
	if !missing(got, l.Fold.Next(), l.next) {
		l.Fold.Skip(l.next)
	}
	return nil
}

// missing reports whether one of the offsets [from, to) is missing in an answer: the answer has
// neither a record nor the marker of a transaction there.
func missing(got ingest.Fetched, from, to int64) bool {
	return slices.ContainsFunc(got.Missing, func(h ingest.Gap) bool { return h.From < to && from < h.To })
}

// fetch polls from the offset at. After any error, the last record will be checked again.
func (l *Log) fetch(ctx context.Context, at int64) (got ingest.Fetched, err error) {
	err = l.retry(ctx, func() (err error) {
		got, err = l.fetcher.Poll(ctx, at)
		if err != nil && l.last.offset >= 0 {
			l.recheck = true
		}
		return err
	})
	return got, err
}

// retry is Config.Retry, but fails if the topic no longer exists.
func (l *Log) retry(ctx context.Context, f func() error) error {
	return l.config.Retry(ctx, func() error {
		err := f()
		if errors.Is(err, ingest.ErrUnknownTopic) {
			if err := l.present(ctx); err != nil {
				return err
			}
		}
		return err
	})
}
