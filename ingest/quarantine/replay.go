package quarantine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// Replay configures a replay.
type Replay struct {
	Client *ingest.Client
	Topic  string              // the quarantine topic
	To     []string            // topics that records may be sent back to
	Select func(e *Entry) bool // nil: all
	Limit  int64               // number of records to send; 0: no limit
	DryRun bool                // only count the records, send nothing
	Now    func() time.Time
	Report func(error) // called with each error after which the replay continues
}

// Replayed counts what a replay did with the selected records, or would do with DryRun.
type Replayed struct {
	Sent   map[string]int64 // by topic
	Before int64            // records that were sent before, and copies of records that were sent
	Left   map[string]int64 // not sent, by reason
	Rest   int64            // not sent, because of the limit
}

// ErrFenced reports that another replay of the topic has begun, or that a transaction took
// longer than the cluster allows. Records that were not committed are not visible; the next
// replay sends them.
var ErrFenced = errors.New("another replay has begun, or a transaction has timed out")

const (
	// TransactionTimeout bounds how long consumers of the input topics have to wait if a
	// replay is killed during a transaction.
	TransactionTimeout = 30 * time.Second

	abortTimeout = 5 * time.Second

	atOnce      = 500     // maximum number of records in a transaction
	atOnceBytes = 4 << 20 // size of their keys and values at which the transaction is committed

	// sentHeader is the header with the position of a record in the quarantine topic:
	// topic/partition/offset.
	sentHeader = "accrete.replayed"
)

// TransactionalID returns the transactional.id of the replays of a quarantine topic.
func TransactionalID(topic string) string { return "accrete-replay-" + topic }

// Run replays records. They keep their partition, key, value, time and headers, with the
// exceptions of original. After an error, the counts are those of the committed records.
func (c Replay) Run(ctx context.Context) (Replayed, error) {
	out := Replayed{Sent: map[string]int64{}, Left: map[string]int64{}}
	run := replay{Replay: c, out: &out, to: map[string]ingest.Topic{}, batch: map[place][]ingest.Record{}}
	for _, name := range c.To {
		t, err := c.Client.Topic(ctx, name)
		if err != nil {
			return out, err
		}
		run.to[name] = t
	}
	if !c.DryRun {
		run.tx = c.Client.Transactor(TransactionalID(c.Topic), TransactionTimeout)
		if err := run.tx.Begin(ctx); err != nil {
			return out, fenced(err)
		}
	}
	t, err := Read(ctx, c.Client, c.Topic, !c.DryRun, c.Report)
	if err != nil {
		return out, err
	}
	run.done = t.done
	foreign, err := t.Each(ctx, func(e *Entry) error { return run.add(ctx, e) })
	if foreign > 0 {
		out.Left["no record of a learner or scorer"] = foreign
	}
	if err == nil {
		err = run.commit(ctx)
	}
	if err != nil && !errors.Is(err, ingest.ErrTransaction) { // otherwise it has been aborted
		run.abort(ctx)
	}
	return out, fenced(err)
}

// abort ends an open transaction, so that consumers do not wait for its timeout. It fences
// every other replay of the topic, and must not be called by one that has been fenced.
func (r *replay) abort(ctx context.Context) {
	if r.DryRun {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	_ = r.tx.Begin(ctx) // if it fails, the transaction times out
}

func fenced(err error) error {
	if errors.Is(err, ingest.ErrTransaction) {
		return fmt.Errorf("%w (%w)", ErrFenced, err)
	}
	return err
}

// replay is the state of a running Replay.
type replay struct {
	Replay
	out  *Replayed
	to   map[string]ingest.Topic
	tx   *ingest.Transactor
	done map[identity]struct{}

	taken int64 // number of records that were sent or are in batch
	batch map[place][]ingest.Record
	ids   []identity // of the batch
	bytes int
}

type place struct {
	topic     string
	partition int32
}

func (r *replay) add(ctx context.Context, e *Entry) error {
	if r.Select != nil && !r.Select(e) {
		return nil
	}
	id := e.identity()
	_, again := r.done[id]
	why := r.refuses(e)
	switch {
	case again:
		r.out.Before++
		return nil
	case why != "":
		r.out.Left[why]++
		return nil
	case r.Limit > 0 && r.taken == r.Limit:
		r.out.Rest++
		return nil
	}
	r.done[id] = struct{}{}
	r.taken++
	to := place{e.Topic, e.Rejected.Partition}
	r.batch[to] = append(r.batch[to], r.original(e))
	r.ids = append(r.ids, id)
	r.bytes += len(e.Original.Key) + len(e.Original.Value)
	if len(r.ids) == atOnce || r.bytes >= atOnceBytes {
		return r.commit(ctx)
	}
	return nil
}

// refuses returns why a record cannot be sent, or "" if it can.
func (r *replay) refuses(e *Entry) string {
	t, ok := r.to[e.Topic]
	switch {
	case !ok:
		return fmt.Sprintf("from topic %s, which is not an input", e.Topic)
	case int(e.Rejected.Partition) >= t.Partitions:
		return fmt.Sprintf("from partition %d of topic %s, which has %d", e.Rejected.Partition, e.Topic, t.Partitions)
	}
	return e.Incomplete
}

// original returns the record to send. It has an additional header, sentHeader, if there is room
// for it. If retention would delete the record at once, its time is that of the replay.
func (r *replay) original(e *Entry) ingest.Record {
	o := e.Original
	t := r.to[e.Topic]
	if now := r.Now().UnixMilli(); t.RetentionMs > 0 && now-o.Time >= t.RetentionMs {
		o.Time = now
	}
	headers := slices.DeleteFunc(slices.Clone(o.Headers), func(h ingest.Header) bool { return h.Key == sentHeader })
	with := o
	with.Headers = append(headers, ingest.Header{Key: sentHeader, Value: fmt.Appendf(nil, "%s/%d/%d", r.Topic, e.Partition, e.Offset)})
	if len(with.Headers) > ingest.MaxHeaders || with.Size() > t.MaxMessageBytes {
		return o
	}
	return with
}

// commit sends the batch with its marker, as one transaction.
func (r *replay) commit(ctx context.Context) error {
	if len(r.ids) == 0 {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(r.batch), func(a, b place) int {
		if a.topic != b.topic {
			return strings.Compare(a.topic, b.topic)
		}
		return int(a.partition) - int(b.partition)
	})
	if !r.DryRun {
		for _, at := range order {
			if _, err := r.tx.Write(ctx, at.topic, int(at.partition), r.batch[at]); err != nil {
				return err
			}
		}
		if _, err := r.tx.Write(ctx, r.Topic, 0, []ingest.Record{newMarker(r.ids, r.Now().UnixMilli())}); err != nil {
			return err
		}
		if err := r.tx.Commit(ctx); err != nil {
			return err
		}
	}
	for at, rs := range r.batch {
		r.out.Sent[at.topic] += int64(len(rs))
	}
	clear(r.batch)
	r.ids, r.bytes = r.ids[:0], 0
	return nil
}
