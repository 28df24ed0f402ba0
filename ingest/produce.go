package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Producer writes idempotent batches under a producer id of its own, with all
// in-sync replicas acking. It belongs to one goroutine and has one batch
// outstanding.
type Producer struct {
	client *Client
	id     int64 // -1 until the cluster has given one
	epoch  int16
	next   map[partition]int32 // sequence number of the next record
	buf    []byte

	// Smaller, if it is not nil, is given a record that the topic does not take by
	// itself. It makes it smaller and reports whether it could.
	Smaller func(topic string, r *Record) bool

	transaction string // transactional.id; empty outside of transactions
}

type partition struct {
	topic string
	index int
}

func (c *Client) Producer() *Producer {
	return &Producer{client: c, id: -1}
}

// The codes that kafka-go has no name for, or another one.
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

// Append writes rs as one batch, in one attempt, and gives the offset of the
// first record. Offset fields are ignored; times are kept as they are.
//
// An error is either a refusal, after which nothing is stored and nothing will
// be, or ErrAmbiguous: the batch was on its way, and only the topic tells what
// became of it. The records of an ambiguous batch may even arrive after what is
// appended next.
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
	// The broker may hold these sequence numbers: other records under them
	// would be taken for a repetition, acked and lost. So never again.
	p.restart()
	return 0, fmt.Errorf("topic %s partition %d: %w: %w", topic, partition, ErrAmbiguous, err)
}

// Publish writes rs in order, in as many batches as it takes, and tries each
// again under the same sequence numbers until it is acked, so that no record is
// stored twice. The exception is a broker that has forgotten this producer,
// because the partition lost its tail or was not written for a long time
// (OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH):
// then it goes on under a new id, and a batch whose earlier attempt had an
// unknown fate may be stored twice; never is one lost.
//
// It returns early if ctx ends or if a retry cannot help: ErrDenied, or
// ErrTooLarge for a record that the topic does not take by itself and that cannot
// be made Smaller. Then a part of rs, from the first record on, may be stored.
func (p *Producer) Publish(ctx context.Context, topic string, partition int, rs []Record) error {
	for len(rs) > 0 {
		n := p.cut(rs)
		for {
			err := p.publish(ctx, topic, partition, rs[:n])
			if err == nil {
				break
			}
			if n = p.fewer(topic, rs[:n], err); n == 0 {
				return err
			}
		}
		rs = rs[n:]
	}
	return nil
}

// fewer is how many of the records of a batch are tried next, after it was
// refused with err: the topic may take less than what we cut to. 0 if there is
// nothing to try.
func (p *Producer) fewer(topic string, rs []Record, err error) int {
	switch {
	case !errors.Is(err, ErrTooLarge):
		return 0
	case len(rs) > 1:
		return (len(rs) + 1) / 2
	case p.Smaller != nil && p.Smaller(topic, &rs[0]):
		return 1
	}
	return 0
}

// cut is how many records go into the next batch.
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
	ambiguous := false // an attempt under the present id may have been stored
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
			stop = wait.Pause(ctx, err)
		} else if stop == nil {
			stop = err
		}
		if stop != nil {
			if ambiguous {
				p.restart() // these sequence numbers are spent, or not: do not use them for others
				return fmt.Errorf("topic %s partition %d: %w: %w", topic, partition, ErrAmbiguous, err)
			}
			return err
		}
	}
}

// begin sees to it that the producer has an id.
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
			return fmt.Errorf("a producer id: %w", err)
		}
		p.id, p.epoch, p.next = resp.ProducerID, resp.ProducerEpoch, map[partition]int32{}
		return nil
	})
}

// restart makes the next batch ask for a new id.
func (p *Producer) restart() { p.id = -1 }

// forgetUnlessKnown drops the producer's id if err says that the broker does
// not know it, and says whether it did.
func (p *Producer) forgetUnlessKnown(err error) bool {
	var code kafka.Error
	if errors.As(err, &code) {
		switch code {
		case outOfOrderSequence, invalidProducerEpoch, unknownProducerID:
			p.restart()
			return true
		}
	}
	return false
}

func (p *Producer) advance(topic string, index, n int) {
	k := partition{topic, index}
	p.next[k] = int32((int64(p.next[k]) + int64(n)) & math.MaxInt32) // it wraps, to 0
}

// The fate of a batch.
type fate int

const (
	stored    fate = iota
	duplicate      // stored, by an earlier attempt, at an offset we are not told
	refused        // not stored, and this attempt will not be
	unknown
)

// send makes one attempt.
func (p *Producer) send(ctx context.Context, topic string, index int, rs []Record, codec Codec) (base int64, f fate, err error) {
	c := p.client
	attributes := uint16(0)
	if p.transaction != "" {
		attributes = transactional
	}
	batch, err := appendBatch(p.buf[:0], rs, codec, attributes, p.id, p.epoch, p.next[partition{topic, index}])
	p.buf = nil // the connection may go on reading the batch after an error
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
		return 0, unknown, fmt.Errorf("%w: no answer about the batch", ErrCorrupt)
	}
	a := &resp.Topics[0].Partitions[0]
	if a.ErrorCode == 0 {
		return a.BaseOffset, stored, nil
	}
	err = c.topicError(topic, a.ErrorCode)
	if a.ErrorMessage != nil {
		err = fmt.Errorf("%w (%s)", err, *a.ErrorMessage)
	}
	if moved(err) {
		c.forget(topic)
	}
	switch kafka.Error(a.ErrorCode) {
	case duplicateSequence:
		return 0, duplicate, err
	case kafka.RequestTimedOut, kafka.NetworkException, notEnoughReplicasAfterAppend, kafka.Unknown, kafka.KafkaStorageError:
		return 0, unknown, err
	}
	return 0, refused, err
}
