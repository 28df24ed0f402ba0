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
	DryRun bool                // count, and send nothing
	Now    func() time.Time
	Report func(error) // called with the errors after which the replay continues
}

// Replayed is what a replay did, or would do. It counts the selected records.
type Replayed struct {
	Sent   map[string]int64 // by topic
	Before int64            // sent by an earlier replay, or a copy of a record that was sent
	Left   map[string]int64 // not sent, by reason
	Rest   int64            // not sent, because of the limit
}

// ErrFenced reports that another replay of the topic has begun, or that a transaction
// took longer than the cluster allows. What was not committed is not visible and will
// be sent by the next replay.
var ErrFenced = errors.New("another replay has begun, or a transaction has timed out")

const (
	// TransactionTimeout bounds how long consumers of the input wait after a replay was
	// killed in a transaction.
	TransactionTimeout = 30 * time.Second

	abortTimeout = 5 * time.Second

	atOnce      = 500     // records of a transaction
	atOnceBytes = 4 << 20 // of their keys and values

	// sentHeader tells where in quarantine a record comes from: topic/partition/offset.
	sentHeader = "accrete.replayed"
)

// TransactionalID returns the transactional.id of the replays of a quarantine topic.
func TransactionalID(topic string) string { return "accrete-replay-" + topic }

// Run replays. Records keep their partition, key, value, time and headers. With an error,
// it returns what was committed before.
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
	if err != nil {
		run.abort(ctx)
	}
	return out, fenced(err)
}

// abort ends an open transaction, so that consumers do not wait for its timeout.
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

	taken int64 // records that were sent, or are in batch
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

// refuses returns why a record cannot be sent, empty if it can.
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

// original returns the record to send. It has a header more, if there is room for it. If
// retention would delete it at once, it has the time of the replay.
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
