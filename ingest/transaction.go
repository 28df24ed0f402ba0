package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrTransaction reports that the transaction has ended without a known commit,
// because another Transactor with the same id has begun or because the timeout has
// passed. The caller calls Begin again and reads the topics to find out what was
// committed.
var ErrTransaction = errors.New("the transaction has ended")

// Transactor writes to several partitions so that a read-committed consumer sees
// all of a transaction or none of it. Of all Transactors with the same id, in any
// process, only the last one to call Begin can write; the others are fenced. A
// Transactor must not be used concurrently.
//
// After any error, everything written since the last Commit is either committed or
// will never be visible. Once Begin has returned, reading the topics tells which.
type Transactor struct {
	// Retrying, if not nil, is called with each error after which a request is sent again. That a
	// broker still completes the previous transaction is normal, and said only after completing attempts.
	Retrying func(error)

	client  *Client
	timeout time.Duration
	p       Producer
	in      map[partition]bool // partitions in the current transaction
}

// completing is the number of attempts that a broker may need to complete a transaction, about 0.7 s.
const completing = 10

// Transactor returns a Transactor, which starts with Begin. id is the
// transactional.id. The cluster aborts a transaction that takes longer than
// timeout.
func (c *Client) Transactor(id string, timeout time.Duration) *Transactor {
	return &Transactor{client: c, timeout: timeout, p: Producer{client: c, id: -1, transaction: id}}
}

// Smaller sets the function that reduces records that are too large for a topic; see
// Producer.Smaller.
func (t *Transactor) Smaller(f func(topic string, r *Record) bool) { t.p.Smaller = f }

// Begin fences every other Transactor with the same id. When it returns, a
// transaction that was open before is committed or aborted. It is called once, and
// again after each error. It retries until ctx ends or a retry cannot succeed.
func (t *Transactor) Begin(ctx context.Context) error {
	t.p.id, t.in = -1, map[partition]bool{}
	return t.retry(ctx, func() error {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionalID = &t.p.transaction
		req.TransactionTimeoutMillis = int32(t.timeout.Milliseconds())
		req.ProducerID, req.ProducerEpoch = -1, -1
		r, err := t.ask(ctx, req)
		if err != nil {
			return err
		}
		resp := r.(*kmsg.InitProducerIDResponse)
		if err := t.refused(resp.ErrorCode); err != nil && !errors.Is(err, ErrTransaction) {
			return err
		} else if err != nil { // the epoch is being raised by another Transactor or by a timeout
			return fmt.Errorf("%w: %w", errStale, err)
		}
		t.p.id, t.p.epoch, t.p.next = resp.ProducerID, resp.ProducerEpoch, map[partition]int32{}
		return nil
	})
}

// Write adds rs to the transaction, in order and exactly once, and returns the
// offset of the first record, or -1 if it is unknown. It handles timestamps as Publish does.
func (t *Transactor) Write(ctx context.Context, topic string, index int, rs []Record) (base int64, err error) {
	if t.p.id < 0 {
		return 0, ErrTransaction
	}
	if err := t.enlist(ctx, topic, index); err != nil {
		return 0, err
	}
	base, t.p.Retrying = -1, t.Retrying
	for len(rs) > 0 {
		n, now := t.p.cut(rs), time.Now().UnixMilli()
		at := int64(-1)
		for {
			err := t.retry(ctx, func() error {
				var fate fate
				var err error
				at, fate, err = t.p.send(ctx, topic, index, rs[:n], t.client.codec)
				if fate == duplicate {
					at, err = -1, nil
				}
				if err != nil {
					err = fmt.Errorf("topic %s partition %d: %w", topic, index, err)
				}
				return t.over(err)
			})
			if err == nil {
				break
			}
			if n = t.p.accepted(topic, rs[:n], now, err); n == 0 {
				return 0, t.fail(err)
			}
		}
		t.p.advance(topic, index, n)
		if base < 0 {
			base = at
		}
		rs = rs[n:]
	}
	return base, nil
}

// enlist adds a partition to the transaction.
func (t *Transactor) enlist(ctx context.Context, topic string, index int) error {
	k := partition{topic, index}
	if t.in[k] {
		return nil
	}
	err := t.retry(ctx, func() error {
		req := kmsg.NewPtrAddPartitionsToTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = t.p.transaction, t.p.id, t.p.epoch
		rt := kmsg.NewAddPartitionsToTxnRequestTopic()
		rt.Topic, rt.Partitions = topic, []int32{int32(index)}
		req.Topics = append(req.Topics, rt)
		r, err := t.ask(ctx, req)
		if err != nil {
			return err
		}
		for _, rt := range r.(*kmsg.AddPartitionsToTxnResponse).Topics {
			for _, p := range rt.Partitions {
				if err := t.refused(p.ErrorCode); err != nil {
					return fmt.Errorf("topic %s partition %d: %w", rt.Topic, p.Partition, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return t.fail(err)
	}
	t.in[k] = true
	return nil
}

// Commit commits everything written since the last Commit.
func (t *Transactor) Commit(ctx context.Context) error {
	if t.p.id < 0 {
		return ErrTransaction
	}
	if len(t.in) == 0 {
		return nil
	}
	err := t.retry(ctx, func() error {
		req := kmsg.NewPtrEndTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = t.p.transaction, t.p.id, t.p.epoch, true
		r, err := t.ask(ctx, req)
		if err != nil {
			return err
		}
		return t.refused(r.(*kmsg.EndTxnResponse).ErrorCode)
	})
	if err != nil {
		return t.fail(err)
	}
	clear(t.in)
	return nil
}

// fail invalidates the producer id, so that only Begin can follow, and returns err.
func (t *Transactor) fail(err error) error {
	t.p.id = -1
	return err
}

// ask sends req to the broker that coordinates the transactions of the id.
func (t *Transactor) ask(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorType, find.CoordinatorKey = 1, t.p.transaction
	r, _, err := t.client.do(ctx, find, responseLimit, nil)
	if err != nil {
		return nil, err
	}
	at := r.(*kmsg.FindCoordinatorResponse)
	if err := t.refused(at.ErrorCode); err != nil {
		return nil, err
	}
	r, _, err = t.client.do(ctx, req, responseLimit, toBroker(at.NodeID))
	return r, err
}

// retry calls f until it succeeds, ctx ends, or a retry cannot succeed.
func (t *Transactor) retry(ctx context.Context, f func() error) error {
	wait := new(Backoff)
	for attempts := 1; ; attempts++ {
		err := f()
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrTransaction) && !errors.Is(err, errStale) || !Temporary(err) {
			return err
		}
		if t.Retrying != nil && (attempts > completing || !errors.Is(err, kafka.ConcurrentTransactions)) {
			t.Retrying(err)
		}
		if stop := wait.Pause(ctx, err); stop != nil {
			return err
		}
	}
}

func (t *Transactor) refused(code int16) error {
	switch e := kafka.Error(code); e {
	case 0:
		return nil
	case kafka.TransactionalIDAuthorizationFailed:
		return fmt.Errorf("%w: transactional.id %q: grant it with kafka-acls (%w)", ErrDenied, t.p.transaction, answer(e))
	default:
		return t.over(t.client.refused(e))
	}
}

// over wraps the errors that end the transaction in ErrTransaction.
func (t *Transactor) over(err error) error {
	var code kafka.Error
	if errors.As(err, &code) {
		switch code {
		case outOfOrderSequence, invalidProducerEpoch, invalidTransactionState, invalidProducerIDMapping, unknownProducerID, producerFenced:
			return fmt.Errorf("%w: %w", ErrTransaction, err)
		}
	}
	return err
}
