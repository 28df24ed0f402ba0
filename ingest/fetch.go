package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const readCommitted = 1

// Fetcher reads one partition of a topic from explicit offsets. It keeps no
// position and nothing runs behind it: what Poll gives is all there is.
type Fetcher struct {
	client    *Client
	topic     string
	partition int
	budget    *Budget // nil: none
}

// Fetcher reads partition of topic.
func (c *Client) Fetcher(topic string, partition int) *Fetcher {
	return &Fetcher{client: c, topic: topic, partition: partition}
}

// Fetched is the answer to one Poll.
type Fetched struct {
	// Records at and after the offset asked for, in order, of committed
	// transactions or none. They share memory with each other only.
	Records []Record

	Next     int64 // where to go on; it can pass offsets without giving a record
	End      int64 // the end of what a read-committed reader can reach now: the last stable offset
	LogStart int64 // the oldest record still there

	// HighWatermark is the end of what the partition has, transactions that are
	// not over included.
	HighWatermark int64

	// Epoch is the leader epoch under which the batch that ends before Next was
	// written, a transaction's marker included; -1 if nothing was read.
	Epoch int32

	// Leader is the epoch of the leader that was asked; -1 if that is unknown. A
	// leader with another epoch refuses to answer, so that Poll notices each
	// change, in an error on which Temporary says yes.
	Leader int32

	// Connection is the number of the connection that carried the answer, which
	// Client.Connections counts. 0 where there are none.
	Connection int64

	// Held is the memory of the records, which the budget gets back by Release; 0
	// without one.
	Held int64

	// Missing are the offsets in between that hold nothing at all, not even a
	// transaction's marker. Compaction does that; where a topic is not
	// compacted, the broker has lost them.
	Missing []Hole
}

// Hole is a run of offsets, From to To-1, that hold nothing.
type Hole struct{ From, To int64 }

// Poll reads on from offset. If there is nothing it waits for up to MaxWait
// and gives no records.
//
// It returns *LostRange if the record at offset has been deleted and *PastEnd
// if the partition ends before it; ErrCorrupt if a batch stays damaged however
// often it is fetched; and otherwise, errors on which Temporary decides. It
// tries once, and never gives records together with an error.
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
			return Fetched{Next: offset}, fmt.Errorf("topic %s partition %d, fetched %d times: %w: a disk or the network damages it", f.topic, f.partition, tries, err)
		}
	}
}

// Peek is a Poll of the record at offset alone: it gives none where there is
// none that a read-committed reader gets.
func (f *Fetcher) Peek(ctx context.Context, offset int64) (Fetched, error) {
	got, err := f.poll(ctx, offset, 1)
	if err != nil {
		return got, err
	}
	if f.budget != nil { // one record does not count
		f.budget.Release(got.Held)
		got.Held = 0
	}
	n := 0
	if len(got.Records) > 0 && got.Records[0].Offset == offset {
		n = 1
	}
	got.Records, got.Next = got.Records[:n:n], offset+int64(n)
	return got, nil
}

// poll makes one attempt. More than most bytes come only if the first batch
// alone has more.
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
	req.MaxWaitMillis, req.MinBytes = int32(c.maxWait.Milliseconds()), 1
	// Not c.fetch: where the limit of the request is what ends a partition's
	// data, kfake leaves the aborted transactions out of its answer.
	req.MaxBytes = math.MaxInt32
	req.Topics = []kmsg.FetchRequestTopic{{Topic: f.topic, Partitions: []kmsg.FetchRequestTopicPartition{rp}}}

	r, _, err := c.doLeader(ctx, f.topic, f.partition, req, recordsLimit+c.fetch+responseLimit)
	if err != nil {
		return Fetched{}, err
	}
	resp := r.(*kmsg.FetchResponse)
	if err := c.topicError(f.topic, resp.ErrorCode); err != nil {
		return Fetched{}, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return Fetched{}, fmt.Errorf("%w: records of another topic", ErrCorrupt)
	}
	p := &resp.Topics[0].Partitions[0]
	if p.ErrorCode == int16(kafka.OffsetOutOfRange) {
		return Fetched{}, f.outOfRange(ctx, offset)
	}
	if err := c.topicError(f.topic, p.ErrorCode); err != nil {
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

// outOfRange finds out on which side. Apache Kafka's answer does not say.
func (f *Fetcher) outOfRange(ctx context.Context, offset int64) error {
	first, end, err := f.client.bounds(ctx, f.topic, f.partition)
	switch {
	case err != nil:
		return err
	case offset < first[0]:
		return &LostRange{f.topic, f.partition, offset, first[0]}
	case offset > end[0]:
		return &PastEnd{f.topic, f.partition, offset, end[0]}
	}
	f.client.forget(f.topic) // the broker we asked knew less than the leader
	return fmt.Errorf("topic %s partition %d: %w", f.topic, f.partition, answer(kafka.OffsetNotAvailable))
}

// PastEnd is the error of a partition that ends before the record want.
func (f *Fetcher) PastEnd(want, end int64) error { return &PastEnd{f.topic, f.partition, want, end} }
