package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
)

// ErrGap: records were lost before they were learned.
var ErrGap = errors.New("input is lost")

// lostInput is an ErrGap that says which records.
type lostInput struct {
	topic     string
	partition int32
	from, to  int64
}

func (e *lostInput) Error() string {
	return fmt.Sprintf("%v: records %d to %d of topic %q partition %d were deleted before they were learned, by its retention or by a person: set input.on_gap to record to go on without them, which the model log will say, or begin a new model under another name", ErrGap, e.from, e.to-1, e.topic, e.partition)
}

func (e *lostInput) Unwrap() error { return ErrGap }

// witness reads a partition and sees to it that what it reads is still the topic
// that was learned from. The id of a topic is never given again: once it is
// found unchanged, everything read before is of that topic.
type witness struct {
	client  *ingest.Client
	fetcher *ingest.Fetcher
	in      *input
	report  func(Event)

	checked    time.Time
	doubt      bool // something happened since then that may have been a deletion
	first, end int64
}

// identityEvery is how long records may be taken from a topic before its id is
// looked at again where nothing points to a deletion.
const identityEvery = time.Second

func newWitness(c *ingest.Client, in *input, report func(Event)) *witness {
	return &witness{client: c, fetcher: c.Fetcher(in.topic, int(in.partition)), in: in, report: report, doubt: true}
}

// poll reads on from offset. It gives *ingest.LostRange as it is; ErrHistory
// where the topic is another one or was truncated.
func (w *witness) poll(ctx context.Context, offset int64) (ingest.Fetched, error) {
	var since time.Time // of the first answer that the partition ends before offset
	for {
		got, err := pollRetry(ctx, w.fetcher, offset, func(ev Event) {
			w.doubt = true
			w.report(ev)
		})
		var past *ingest.PastEnd
		var lost *ingest.LostRange
		switch {
		case err == nil && got.Next == offset: // nothing was read that could be another's
			return got, nil
		case err == nil:
			w.doubt = w.doubt || got.End < w.end || got.LogStart < w.first || time.Since(w.checked) > identityEvery
		case errors.As(err, &past), errors.As(err, &lost):
			w.doubt = true
		default:
			return got, err
		}
		if w.doubt {
			if err := w.check(ctx); err != nil {
				return got, err
			}
		}
		if past == nil {
			w.first, w.end = got.LogStart, got.End
			return got, err
		}
		// A broker that has just come back may not know yet how far it goes.
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > truncationPersists {
			return got, fmt.Errorf("%w: %v was learned up to offset %d and ends at %d now: it was truncated; begin a new model under another name", ErrHistory, w.in, past.Want, past.End)
		}
		if err := new(ingest.Backoff).Pause(ctx, err); err != nil {
			return got, err
		}
	}
}

const truncationPersists = time.Second

func recreated(topic string) error {
	return fmt.Errorf("%w: topic %q was %w since the model learned from it: begin a new model under another name", ErrHistory, topic, errRecreated)
}

var errRecreated = errors.New("deleted and created anew")

// check compares the topic's id with the one at the start.
func (w *witness) check(ctx context.Context) error {
	return retry(ctx, w.report, func() error {
		t, err := w.client.Topic(ctx, w.in.topic)
		switch {
		case err != nil:
			return err
		case t.ID != w.in.id:
			return recreated(w.in.topic)
		}
		w.checked, w.doubt = time.Now(), false
		return nil
	})
}

// seek moves every input to where the history stands in it, having seen that it
// is the partition that was learned from. One that no BATCH has covered begins
// at its first record.
func (ins inputs) seek(ctx context.Context, c *ingest.Client, reached []snapshot.Position, report func(Event)) error {
	known := map[*input]snapshot.Position{}
	for _, p := range reached {
		in := ins.find(p.Topic, p.Partition)
		if in == nil {
			return fmt.Errorf("%w: the model has learned from %s/%d up to offset %d, and that partition is not among its inputs: put the topic back into input.topics, or begin a new model under another name", ErrHistory, p.Topic, p.Partition, p.Next)
		}
		if in.id != p.TopicID {
			return recreated(p.Topic)
		}
		known[in] = p
	}
	var first, end []int64
	for i, in := range ins {
		if i == 0 || in.topic != ins[i-1].topic {
			var err error
			if first, end, err = c.Offsets(ctx, in.topic); err != nil {
				return err
			}
		}
		p, ok := known[in]
		if !ok {
			in.next = first[in.partition]
			continue
		}
		in.next = p.Next
		if planted("seek") {
			in.next++
		}
		switch {
		case p.Next > end[in.partition]:
			if _, err := newWitness(c, in, report).poll(ctx, p.Next); err != nil {
				return err
			}
		case p.Next > first[in.partition]:
			if err := in.recognise(ctx, c, p, first[in.partition], report); err != nil {
				return err
			}
		}
	}
	return nil
}

// recognise compares the last record before p with the one that was decided
// last, as long as it is still there.
func (in *input) recognise(ctx context.Context, c *ingest.Client, p snapshot.Position, first int64, report func(Event)) error {
	if p.Fingerprint == 0 || planted("fingerprint") { // behind a gap
		return nil
	}
	for back := int64(2); ; back *= 8 { // a transaction's marker may lie between
		from := max(first, p.Next-back)
		r := cursor{fetcher: c.Fetcher(in.topic, int(in.partition)), next: -1}
		records, err := r.take(ctx, from, p.Next, report)
		var lost *ingest.LostRange
		if errors.As(err, &lost) {
			return nil // it goes while we look
		}
		if err != nil {
			return err
		}
		if n := len(records); n > 0 {
			if fingerprint(&records[n-1]) != p.Fingerprint {
				return fmt.Errorf("%w: record %d of %v is not the one that the model learned: the topic was deleted and written anew, or truncated and written on; begin a new model under another name", ErrHistory, records[n-1].Offset, in)
			}
			return nil
		}
		if from == first {
			return nil
		}
	}
}

// fingerprint is the digest of one record.
func fingerprint(r *ingest.Record) uint64 {
	h := xxhash.New()
	hashRecord(h, r)
	return h.Sum64()
}
