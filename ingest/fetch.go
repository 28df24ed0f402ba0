package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/internal/planted"
)

const readCommitted = 1

// Fetcher reads one partition of a topic from explicit offsets. It keeps no
// position, starts no goroutines and does not prefetch.
type Fetcher struct {
	client    *Client
	topic     string
	partition int
	budget    *Budget     // nil: none
	drop      func() bool // releases what the caller holds; nil: nothing
}

// Fetcher returns a Fetcher of one partition of topic.
func (c *Client) Fetcher(topic string, partition int) *Fetcher {
	return &Fetcher{client: c, topic: topic, partition: partition}
}

// Fetched is the result of one Poll.
type Fetched struct {
	// Records at and after the requested offset, in order, that belong to a
	// committed transaction or to none. They share memory only with each other.
	Records []Record

	Next     int64 // the offset to continue from; it can skip offsets without records
	End      int64 // the last stable offset: where a read-committed consumer has to stop now
	LogStart int64 // the offset of the oldest record

	// HighWatermark is the end of the partition, including open transactions.
	HighWatermark int64

	// Epoch is the leader epoch of the last batch before Next, which may be a
	// transaction marker; -1 if nothing was read.
	Epoch int32

	// Leader is the epoch of the leader that sent the response; -1 if unknown. A
	// leader with another epoch rejects the request, so that Poll detects each
	// change and returns an error for which Temporary returns true.
	Leader int32

	// Connection is the number of the connection that carried the response, as
	// counted by Client.Connections; 0 if there are no connections.
	Connection int64

	// Held is the memory of the records in bytes, to be returned to the budget by
	// Release; 0 without a budget.
	Held int64

	// Missing are the offsets in between that hold nothing, not even a transaction
	// marker. Compaction removes records in this way. In a topic that is not
	// compacted, the broker has lost them.
	Missing []Gap
}

// Gap is a range of offsets, From to To-1, that hold nothing.
type Gap struct{ From, To int64 }

// Poll reads records from offset on. If there are none, it waits for up to MaxWait
// and returns none.
//
// It returns *GapError if the record at offset has been deleted, *PastEnd if the
// partition ends before it, and ErrCorrupt if a batch is still damaged after it
// has been fetched again. Other errors may be Temporary; Poll does not retry them.
// It never returns records together with an error.
func (f *Fetcher) Poll(ctx context.Context, offset int64) (Fetched, error) {
	const tries = 4 // the first one, and three more
	for i := 1; ; i++ {
		got, err := f.poll(ctx, offset, f.client.fetch)
		var sum *checksumError
		if err == nil {
			return got, nil
		}
		if !errors.As(err, &sum) {
			return Fetched{Next: offset}, err
		}
		if i == tries {
			return Fetched{Next: offset}, fmt.Errorf("topic %s partition %d, fetched %d times: %w: check the disks and the network", f.topic, f.partition, tries, err)
		}
	}
}

// Peek is like Poll, but returns only the record at offset. It returns none if
// there is no such record for a read-committed consumer. Peek ignores the budget:
// the caller may hold records itself, and would wait for its own release.
func (f *Fetcher) Peek(ctx context.Context, offset int64) (Fetched, error) {
	free := *f
	free.budget = nil
	got, err := free.poll(ctx, offset, 1)
	if err != nil {
		return got, err
	}
	n := 0
	if len(got.Records) > 0 && got.Records[0].Offset == offset {
		n = 1
	}
	got.Records, got.Next = got.Records[:n:n], offset+int64(n)
	return got, nil
}

// poll makes one attempt. It requests at most most bytes. The response has more
// only if its first batch does.
func (f *Fetcher) poll(ctx context.Context, offset int64, most int) (Fetched, error) {
	c := f.client
	var conn int64
	ctx = context.WithValue(ctx, connKey{}, &conn)
	at, err := c.leader(ctx, f.topic, f.partition)
	if err != nil {
		return Fetched{}, err
	}
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = int32(f.partition), offset, int32(most)
	rp.CurrentLeaderEpoch = at.epoch
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.IsolationLevel, req.SessionEpoch = -1, readCommitted, -1
	if planted.Fault("uncommitted") {
		req.IsolationLevel = 0
	}
	req.MaxWaitMillis, req.MinBytes = int32(c.maxWait.Milliseconds()), 1
	// Not c.fetch: if the limit of the request truncates the data of a partition,
	// kfake omits the aborted transactions from its response.
	req.MaxBytes = math.MaxInt32
	req.Topics = []kmsg.FetchRequestTopic{{Topic: f.topic, Partitions: []kmsg.FetchRequestTopicPartition{rp}}}

	r, _, err := c.doLeader(ctx, f.topic, f.partition, req, recordsLimit+c.fetch+responseLimit)
	if err != nil {
		return Fetched{}, err
	}
	resp := r.(*kmsg.FetchResponse)
	if err := c.topicError(f.topic, resp.ErrorCode, "READ"); err != nil {
		return Fetched{}, err
	}
	if resp.ThrottleMillis > 0 && len(resp.Topics) == 0 {
		return Fetched{}, fmt.Errorf("topic %s: %w", f.topic, waitOut(ctx, resp.ThrottleMillis))
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return Fetched{}, fmt.Errorf("%w: records of another topic", ErrCorrupt)
	}
	p := &resp.Topics[0].Partitions[0]
	if p.ErrorCode == int16(kafka.OffsetOutOfRange) {
		return Fetched{}, f.outOfRange(ctx, offset)
	}
	if err := c.topicError(f.topic, p.ErrorCode, "READ"); err != nil {
		c.forget(f.topic)
		return Fetched{}, err
	}
	s, err := f.scan(ctx, offset, p.RecordBatches, p.AbortedTransactions)
	if err != nil {
		var sum *checksumError
		if errors.As(err, &sum) {
			return Fetched{}, err
		}
		return Fetched{}, fmt.Errorf("topic %s partition %d: %w", f.topic, f.partition, err)
	}
	return Fetched{
		Records: s.records, Next: s.next, Missing: s.missing,
		End: p.LastStableOffset, HighWatermark: p.HighWatermark, LogStart: p.LogStartOffset,
		Held: s.held, Epoch: s.epoch, Leader: at.epoch, Connection: conn,
	}, nil
}

// waitOut waits while the broker throttles this client (KIP-219), for at most a second, so that the
// caller can report it. Such a response to a fetch has no partitions: the fetch has to be repeated.
func waitOut(ctx context.Context, ms int32) error {
	t := time.NewTimer(min(time.Duration(ms)*time.Millisecond, time.Second))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return errThrottled
	}
}

// outOfRange finds out whether offset is before the start or after the end. Apache
// Kafka's response does not say which.
func (f *Fetcher) outOfRange(ctx context.Context, offset int64) error {
	first, end, err := f.client.bounds(ctx, f.topic, f.partition)
	switch {
	case err != nil:
		return err
	case offset < first[0]:
		return &GapError{f.topic, f.partition, offset, first[0]}
	case offset > end[0]:
		return &PastEnd{f.topic, f.partition, offset, end[0]}
	}
	f.client.forget(f.topic) // the broker that responded knew less than the leader
	return fmt.Errorf("topic %s partition %d: %w", f.topic, f.partition, answer(kafka.OffsetNotAvailable))
}

// PastEnd returns the error for a partition that ends before the offset want.
func (f *Fetcher) PastEnd(want, end int64) error { return &PastEnd{f.topic, f.partition, want, end} }
