package sim

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// coordinator is the state of a transactional id.
type coordinator struct {
	producer int64
	epoch    int16
	timeout  time.Duration
	began    time.Time
	open     bool
	last     bool // result of the last transaction: true is a commit
	parts    []*part
}

const (
	invalidProducerEpoch = 47
	invalidTxnState      = 48
	producerFenced       = 90
)

// initProducer increments the epoch of an id, and aborts the open transaction
// of its previous holder.
func (c *cluster) initProducer(id string, timeout time.Duration) *coordinator {
	t := c.transactions[id]
	if t == nil {
		c.producers++
		t = &coordinator{producer: c.producers, epoch: -1}
		c.transactions[id] = t
	}
	c.end(t, false)
	t.epoch++
	t.timeout, t.last = timeout, false
	c.epochs[t.producer] = t.epoch
	return t
}

// expire aborts transactions that exceed their timeout.
func (c *cluster) expire() {
	for _, t := range c.transactions {
		if t.open && time.Since(t.began) > t.timeout {
			c.end(t, false)
			t.epoch++
			t.last = false
			c.epochs[t.producer] = t.epoch
		}
	}
}

// enlist adds a partition to an open transaction.
func (c *cluster) enlist(t *coordinator, p *part) {
	if !t.open {
		t.open, t.began = true, time.Now()
	}
	if !slices.Contains(t.parts, p) {
		t.parts = append(t.parts, p)
	}
}

// end writes the markers of a transaction.
func (c *cluster) end(t *coordinator, commit bool) {
	if !t.open {
		return
	}
	for _, p := range t.parts {
		if from, ok := p.open[t.producer]; ok {
			delete(p.open, t.producer)
			if commit {
				p.commits++
			} else {
				p.abort(t.producer, from)
			}
		}
		c.store(p, marker(t.producer, t.epoch, commit))
	}
	t.open, t.last, t.parts = false, commit, nil
}

// aborted is an aborted transaction; last is the offset of its marker.
type aborted struct {
	kmsg.FetchResponseTopicPartitionAbortedTransaction
	last int64
}

// abort records that a producer's records from an offset on are aborted. The
// marker is stored next.
func (p *part) abort(producer, from int64) {
	p.aborted = append(p.aborted, aborted{kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: producer, FirstOffset: from}, p.end})
}

// stable returns the last stable offset, at which a read-committed consumer has
// to stop.
func (p *part) stable() int64 {
	end := p.end
	for _, from := range p.open {
		end = min(end, from)
	}
	return end
}

const (
	transactional = 1 << 4
	control       = 1 << 5
)

// marker returns the control batch that ends a transaction.
func marker(producer int64, epoch int16, commit bool) []byte {
	be := binary.BigEndian
	b := make([]byte, 61)
	kind := byte(0)
	if commit {
		kind = 1
	}
	b = append(b, 2*16, 0, 0, 0, 2*4, 0, 0, 0, kind, 2*6, 0, 0, 0, 0, 0, 0, 0)
	be.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	be.PutUint16(b[21:], transactional|control)
	be.PutUint64(b[43:], uint64(producer))
	be.PutUint16(b[51:], uint16(epoch))
	be.PutUint32(b[53:], ^uint32(0))
	be.PutUint32(b[57:], 1)
	seal(b)
	return b
}

// transaction answers transaction requests.
func (c *cluster) transaction(req kmsg.Request) kmsg.Response {
	check := func(id string, producer int64, epoch int16) (*coordinator, int16) {
		t := c.transactions[id]
		if t == nil || t.producer != producer || t.epoch != epoch {
			return nil, producerFenced
		}
		return t, 0
	}
	switch req := req.(type) {
	case *kmsg.InitProducerIDRequest:
		resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
		t := c.initProducer(*req.TransactionalID, time.Duration(req.TransactionTimeoutMillis)*time.Millisecond)
		resp.ProducerID, resp.ProducerEpoch = t.producer, t.epoch
		return resp
	case *kmsg.AddPartitionsToTxnRequest:
		resp := req.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		t, code := check(req.TransactionalID, req.ProducerID, req.ProducerEpoch)
		for _, r := range req.Topics {
			rt := kmsg.NewAddPartitionsToTxnResponseTopic()
			rt.Topic = r.Topic
			for _, i := range r.Partitions {
				rp := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
				rp.Partition, rp.ErrorCode = i, code
				if p := c.part(r.Topic, i); p == nil {
					rp.ErrorCode = unknownTopic
				} else if code == 0 {
					c.enlist(t, p)
				}
				rt.Partitions = append(rt.Partitions, rp)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.EndTxnRequest:
		resp := req.ResponseKind().(*kmsg.EndTxnResponse)
		t, code := check(req.TransactionalID, req.ProducerID, req.ProducerEpoch)
		switch {
		case code != 0:
			resp.ErrorCode = code
		case t.open:
			c.end(t, req.Commit)
		case t.last != req.Commit:
			resp.ErrorCode = invalidTxnState
		}
		return resp
	}
	panic("no request about transactions")
}

// visible returns when the record at an offset could be read: when it was
// stored or, in a transaction, when the transaction was committed.
func (p *part) visible(offset int64) int {
	i, _ := slices.BinarySearchFunc(p.batches, offset, func(s stored, o int64) int { return int(s.last - o) })
	be := binary.BigEndian
	if be.Uint16(p.batches[i].raw[21:])&transactional == 0 {
		return p.batches[i].order
	}
	producer := be.Uint64(p.batches[i].raw[43:])
	for _, b := range p.batches[i:] {
		if be.Uint16(b.raw[21:])&control != 0 && be.Uint64(b.raw[43:]) == producer {
			return b.order
		}
	}
	return 1 << 60
}
