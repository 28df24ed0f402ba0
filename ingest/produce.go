package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/internal/planted"
)

// Producer writes idempotent batches under a producer id of its own, with
// acks=all. It has at most one batch in flight, and must not be used concurrently.
type Producer struct {
	client *Client
	id     int64 // -1 until the cluster has assigned one
	epoch  int16
	next   map[partition]int32 // sequence number of the next record
	buf    []byte

	// Smaller, if not nil, is called with a record that is too large for the topic
	// even in a batch by itself. It makes the record smaller and reports whether it
	// could.
	Smaller func(topic string, r *Record) bool

	// Retrying, if not nil, is called with each error after which Publish tries a batch
	// again.
	Retrying func(error)

	transaction string // transactional.id; empty outside of transactions
}

type partition struct {
	topic string
	index int
}

// Producer returns a Producer, which gets its id with the first batch.
func (c *Client) Producer() *Producer {
	return &Producer{client: c, id: -1}
}

// Error codes for which kafka-go has no name, or a different one.
const (
	notEnoughReplicasAfterAppend = 20
	outOfOrderSequence           = 45
	duplicateSequence            = 46
	invalidProducerEpoch         = 47
	invalidTransactionState      = 48
	invalidProducerIDMapping     = 49
	unknownProducerID            = 59
	producerFenced               = 90
)

// Append writes rs as one batch, in one attempt, and returns the offset of the
// first record. Offset fields are ignored, and timestamps are kept unchanged.
//
// After ErrAmbiguous, the batch may have been stored or not, and only reading the
// topic can tell. Its records may even be stored after those of the next Append.
// After any other error, nothing has been stored and nothing will be.
func (p *Producer) Append(ctx context.Context, topic string, partition int, rs []Record) (base int64, err error) {
	if len(rs) == 0 {
		return 0, errors.New("nothing to append")
	}
	if err := p.begin(ctx); err != nil {
		return 0, err
	}
	base, fate, err := p.send(ctx, topic, partition, rs, None)
	switch fate {
	case stored:
		p.advance(topic, partition, len(rs))
		return base, nil
	case refused:
		p.forgetUnlessKnown(err)
		return 0, err
	case duplicate:
		err = answer(kafka.DuplicateSequenceNumber)
	}
	// The broker may have stored these sequence numbers. It would acknowledge
	// other records with the same numbers as duplicates, and they would be lost. So
	// the numbers are never used again.
	p.restart()
	return 0, fmt.Errorf("topic %s partition %d: %w: %w", topic, partition, ErrAmbiguous, err)
}

// Publish writes rs in order, in as many batches as necessary. It retries each
// batch with the same sequence numbers until it is acknowledged, so that no record
// is stored twice.
//
// The exception is a broker that has forgotten this producer, because the
// partition lost its tail or was not written to for a long time
// (OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH).
// Publish then continues with a new id. A batch may be stored twice if the outcome
// of an earlier attempt was unknown, but no batch is lost.
//
// If the topic does not accept the timestamp of a record, Publish replaces it in rs
// by the current time.
//
// Publish returns early if ctx ends or if a retry cannot succeed: ErrDenied, or
// ErrTooLarge for a record that the topic does not accept in a batch by itself and
// that cannot be made Smaller. The first records of rs may then have been stored.
func (p *Producer) Publish(ctx context.Context, topic string, partition int, rs []Record) error {
	for len(rs) > 0 {
		n, now := p.cut(rs), time.Now().UnixMilli()
		for {
			err := p.publish(ctx, topic, partition, rs[:n])
			if err == nil {
				break
			}
			if n = p.accepted(topic, rs[:n], now, err); n == 0 {
				return err
			}
		}
		rs = rs[n:]
	}
	return nil
}

// accepted returns how many records of a batch to try next after the batch was
// rejected with err, because the topic's limits may be less than ours. It may change
// these records. 0 means that a retry cannot succeed.
func (p *Producer) accepted(topic string, rs []Record, now int64, err error) int {
	var times *untimely
	switch {
	case errors.As(err, &times):
		if !times.set(rs, now) {
			return 0
		}
		if p.Retrying != nil {
			p.Retrying(fmt.Errorf("topic %q does not accept the timestamps of some records, which are written with the current time: set its %s and %s to %s", topic, BeforeMax, AfterMax, AnyTime))
		}
		return len(rs)
	case !errors.Is(err, ErrTooLarge):
		return 0
	case len(rs) > 1:
		return (len(rs) + 1) / 2
	case p.Smaller != nil && p.Smaller(topic, &rs[0]):
		return 1
	}
	return 0
}

// An untimely is the error of a batch with timestamps that the topic does not accept.
type untimely struct {
	error
	records []kmsg.ProduceResponseTopicPartitionErrorRecord // the records that have them; none if the broker does not say
}

func (e *untimely) Unwrap() error { return e.error }

// set sets the time of the records that were rejected to now, and reports whether one of them had
// another time.
func (e *untimely) set(rs []Record, now int64) (changed bool) {
	for i := range rs {
		named := func(r kmsg.ProduceResponseTopicPartitionErrorRecord) bool { return int(r.RelativeOffset) == i }
		if rs[i].Time != now && (len(e.records) == 0 || slices.ContainsFunc(e.records, named)) {
			rs[i].Time, changed = now, true
		}
	}
	return changed
}

// cut returns the number of records for the next batch.
func (p *Producer) cut(rs []Record) int {
	size := batchHeader
	for i := range rs {
		body := bodySize(&rs[i], rs[0].Time, i)
		size += varintSize(int64(body)) + body
		if i > 0 && size > p.client.batch {
			return i
		}
	}
	return len(rs)
}

func (p *Producer) publish(ctx context.Context, topic string, partition int, rs []Record) error {
	ambiguous := false // an attempt with the current id may have been stored
	for wait := new(Backoff); ; {
		err := p.begin(ctx)
		if err == nil {
			var fate fate
			_, fate, err = p.send(ctx, topic, partition, rs, p.client.codec)
			switch fate {
			case stored, duplicate:
				p.advance(topic, partition, len(rs))
				return nil
			case unknown:
				ambiguous = true
			case refused:
				if p.forgetUnlessKnown(err) {
					ambiguous = false
				}
			}
		}
		stop := ctx.Err()
		if stop == nil && Temporary(err) {
			if p.Retrying != nil {
				p.Retrying(fmt.Errorf("topic %s partition %d: %w", topic, partition, err))
			}
			stop = wait.Pause(ctx, err)
		} else if stop == nil {
			stop = err
		}
		if stop != nil {
			if ambiguous {
				p.restart() // these sequence numbers may have been stored: do not use them for other records
				return fmt.Errorf("topic %s partition %d: %w: %w", topic, partition, ErrAmbiguous, err)
			}
			return err
		}
	}
}

// begin requests a producer id, unless the producer has one.
func (p *Producer) begin(ctx context.Context) error {
	if p.id >= 0 {
		return nil
	}
	return p.client.coordinated(ctx, func(ctx context.Context) error {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.ProducerID, req.ProducerEpoch = -1, -1
		r, _, err := p.client.do(ctx, req, responseLimit, nil)
		if err != nil {
			return err
		}
		resp := r.(*kmsg.InitProducerIDResponse)
		if err := p.client.refused(kafka.Error(resp.ErrorCode)); err != nil {
			return fmt.Errorf("producer id: %w", err)
		}
		p.id, p.epoch, p.next = resp.ProducerID, resp.ProducerEpoch, map[partition]int32{}
		return nil
	})
}

// restart drops the producer id, so that the next batch requests a new one.
func (p *Producer) restart() { p.id = -1 }

// forgetUnlessKnown drops the producer id if err means that the broker does not
// know it, and reports whether it did.
func (p *Producer) forgetUnlessKnown(err error) bool {
	var code kafka.Error
	if errors.As(err, &code) {
		switch code {
		case outOfOrderSequence, invalidProducerEpoch, unknownProducerID:
			if !planted.Fault("forgotten") {
				p.restart()
			}
			return true
		}
	}
	return false
}

func (p *Producer) advance(topic string, index, n int) {
	k := partition{topic, index}
	p.next[k] = int32((int64(p.next[k]) + int64(n)) & math.MaxInt32) // wraps to 0
}

// fate is the outcome of an attempt to write a batch.
type fate int

const (
	stored    fate = iota
	duplicate      // stored by an earlier attempt; its offset is unknown
	refused        // not stored, and will not be by this attempt
	unknown
)

// send makes one attempt to write a batch.
func (p *Producer) send(ctx context.Context, topic string, index int, rs []Record, codec Codec) (base int64, f fate, err error) {
	c := p.client
	attributes := uint16(0)
	if p.transaction != "" {
		attributes = transactional
	}
	batch, err := appendBatch(p.buf[:0], rs, codec, attributes, p.id, p.epoch, p.next[partition{topic, index}])
	p.buf = nil // after an error, the connection may still be reading the batch
	if err != nil {
		return 0, refused, err
	}
	req := kmsg.NewPtrProduceRequest()
	if p.transaction != "" {
		req.TransactionID = &p.transaction
	}
	req.Acks, req.TimeoutMillis = -1, int32(c.timeout.Milliseconds())
	req.Topics = []kmsg.ProduceRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: int32(index), Records: batch}},
	}}
	r, sent, err := c.doLeader(ctx, topic, index, req, responseLimit)
	if err != nil {
		if sent {
			return 0, unknown, err
		}
		p.buf = batch
		return 0, refused, err
	}
	p.buf = batch
	resp := r.(*kmsg.ProduceResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return 0, unknown, fmt.Errorf("%w: no response for the batch", ErrCorrupt)
	}
	a := &resp.Topics[0].Partitions[0]
	if a.ErrorCode == 0 {
		return a.BaseOffset, stored, nil
	}
	err = c.topicError(topic, a.ErrorCode, "WRITE")
	if a.ErrorMessage != nil {
		err = fmt.Errorf("%w (%s)", err, *a.ErrorMessage)
	}
	if moved(err) {
		c.forget(topic)
	}
	switch kafka.Error(a.ErrorCode) {
	case kafka.InvalidTimestamp:
		return 0, refused, &untimely{err, a.ErrorRecords}
	case duplicateSequence:
		return 0, duplicate, err
	case kafka.RequestTimedOut, kafka.NetworkException, notEnoughReplicasAfterAppend, kafka.Unknown, kafka.KafkaStorageError:
		return 0, unknown, err
	}
	return 0, refused, err
}
