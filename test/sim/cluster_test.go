package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
)

// cluster is an in-memory Kafka. Requests of processes wait in calls until the
// schedule answers them; handle answers a request at once.
type cluster struct {
	mu        sync.Mutex
	topics    map[string]*topic
	producers int64
	epochs    map[int64]int16 // of transactional producers

	transactions map[string]*coordinator
	ids          int // counter of calls
	calls        []*call
	order        int        // counter of stored batches
	most         func() int // maximum number of batches in a fetch response
}

type topic struct {
	id     [16]byte
	config map[string]string
	parts  []*part
}

// part is a partition. Deleted batches remain in it, for the oracle.
type part struct {
	start, end int64
	batches    []stored
	aborted    []aborted
	writers    map[int64]*writer
	open       map[int64]int64 // by producer, first offset of its open transaction
	commits    int             // number of committed transactions
	epoch      int32           // of the leader
	leaders    []leadership    // with the epochs of the records, for OffsetForLeaderEpoch
}

type stored struct {
	base, last int64
	raw        []byte
	good       []byte // raw before it was damaged; nil if undamaged
	order      int
}

// writer is the state of an idempotent producer in a partition.
type writer struct {
	epoch  int16
	next   int32
	recent []struct {
		sequence, last int32
		base           int64
	}
}

// call is a request that waits for its response.
type call struct {
	from      *process
	id        int
	req       kmsg.Request
	due       time.Time // when a fetch without data is answered
	done      chan answer
	abandoned bool // no process waits for it any more, but it may still be delivered
}

type answer struct {
	resp kmsg.Response
	sent bool
	err  error
}

var (
	errLost = &lostError{}
	errDead = errors.New("the process is dead")
)

// lostError is a broken connection. ingest classifies it as temporary.
type lostError struct{}

func (*lostError) Error() string { return "connection lost" }
func (*lostError) Unwrap() error { return context.DeadlineExceeded }

func newCluster() *cluster {
	return &cluster{topics: map[string]*topic{}, epochs: map[int64]int16{}, transactions: map[string]*coordinator{}, producers: 100, most: func() int { return 1 << 20 }}
}

// client returns a client whose requests are answered at once. The world itself
// uses it.
func (c *cluster) client() *ingest.Client {
	k, err := ingest.New(ingest.Config{
		Brokers: []string{"sim:9092"},
		Exchange: func(_ context.Context, req kmsg.Request) (kmsg.Response, bool, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.handle(req), true, nil
		},
	})
	if err != nil {
		panic(err)
	}
	return k
}

// exchange returns the network of a process.
func (c *cluster) exchange(p *process) func(context.Context, kmsg.Request) (kmsg.Response, bool, error) {
	return func(ctx context.Context, req kmsg.Request) (kmsg.Response, bool, error) {
		c.mu.Lock()
		if p.dead {
			c.mu.Unlock()
			return nil, false, errDead
		}
		c.ids++
		k := &call{from: p, id: c.ids, req: req, done: make(chan answer, 1)}
		if f, ok := req.(*kmsg.FetchRequest); ok {
			k.due = time.Now().Add(time.Duration(f.MaxWaitMillis) * time.Millisecond)
		}
		c.calls = append(c.calls, k)
		c.mu.Unlock()
		select {
		case a := <-k.done:
			return a.resp, a.sent, a.err
		case <-ctx.Done():
			c.mu.Lock()
			k.abandoned = true
			c.mu.Unlock()
			return nil, true, ctx.Err()
		}
	}
}

// ready returns the calls that can be answered now, in an order that does not
// depend on goroutine scheduling.
func (c *cluster) ready(which func(*call) bool) (out []*call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.calls {
		if f, ok := k.req.(*kmsg.FetchRequest); ok && !k.abandoned && time.Now().Before(k.due) && !c.any(f) {
			continue
		}
		if which(k) {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b *call) int {
		if n := a.from.id - b.from.id; n != 0 {
			return n
		}
		if n := int(a.req.Key()) - int(b.req.Key()); n != 0 {
			return n
		}
		if n := int(place(a.req)) - int(place(b.req)); n != 0 {
			return n
		}
		return a.id - b.id
	})
	return out
}

// place distinguishes the concurrent requests of one kind of a process.
func place(req kmsg.Request) int32 {
	if f, ok := req.(*kmsg.FetchRequest); ok {
		return int32(len(f.Topics[0].Topic))<<8 | f.Topics[0].Partitions[0].Partition
	}
	return 0
}

// any reports whether a fetch has data to return.
func (c *cluster) any(f *kmsg.FetchRequest) bool {
	p := c.part(f.Topics[0].Topic, f.Topics[0].Partitions[0].Partition)
	at := f.Topics[0].Partitions[0]
	return p == nil || at.FetchOffset != p.stable() || p.led(at.CurrentLeaderEpoch) != 0
}

func (c *cluster) remove(k *call) {
	c.calls = slices.DeleteFunc(c.calls, func(x *call) bool { return x == k })
}

func (c *cluster) part(name string, i int32) *part {
	t := c.topics[name]
	if t == nil || int(i) >= len(t.parts) {
		return nil
	}
	return t.parts[i]
}

const (
	offsetOutOfRange     = 1
	unknownTopic         = 3
	topicExists          = 36
	outOfOrderSequence   = 45
	duplicateSequence    = 46
	notLeader            = 6
	timedOut             = 7
	notEnoughReplicas    = 19
	notEnoughAfterAppend = 20
	coordinatorNotAvail  = 15
	messageTooLarge      = 10
)

// handle answers a request as a broker does.
func (c *cluster) handle(req kmsg.Request) kmsg.Response {
	switch req := req.(type) {
	case *kmsg.MetadataRequest:
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewMetadataResponseTopic()
			rt.Topic = r.Topic
			t := c.topics[*r.Topic]
			if t == nil {
				rt.ErrorCode = unknownTopic
			} else {
				rt.TopicID = t.id
				for i := range t.parts {
					rp := kmsg.NewMetadataResponseTopicPartition()
					rp.Partition, rp.Leader, rp.LeaderEpoch = int32(i), 1, t.parts[i].epoch
					rt.Partitions = append(rt.Partitions, rp)
				}
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.DescribeConfigsRequest:
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, r := range req.Resources {
			rr := kmsg.NewDescribeConfigsResponseResource()
			rr.ResourceName = r.ResourceName
			if t := c.topics[r.ResourceName]; t == nil {
				rr.ErrorCode = unknownTopic
			} else {
				for _, name := range r.ConfigNames {
					if v, ok := t.config[name]; ok {
						e := kmsg.NewDescribeConfigsResponseResourceConfig()
						e.Name, e.Value = name, &v
						rr.Configs = append(rr.Configs, e)
					}
				}
			}
			resp.Resources = append(resp.Resources, rr)
		}
		return resp
	case *kmsg.CreateTopicsRequest:
		resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewCreateTopicsResponseTopic()
			rt.Topic = r.Topic
			if c.topics[r.Topic] != nil {
				rt.ErrorCode = topicExists
			} else if !req.ValidateOnly {
				config := map[string]string{"cleanup.policy": "delete", "retention.ms": "-1"}
				for _, e := range r.Configs {
					config[e.Name] = *e.Value
				}
				c.create(r.Topic, max(1, int(r.NumPartitions)), config)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.ListOffsetsRequest:
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewListOffsetsResponseTopic()
			rt.Topic = r.Topic
			for _, rp := range r.Partitions {
				out := kmsg.NewListOffsetsResponseTopicPartition()
				out.Partition = rp.Partition
				if p := c.part(r.Topic, rp.Partition); p == nil {
					out.ErrorCode = unknownTopic
				} else if out.ErrorCode = p.led(rp.CurrentLeaderEpoch); out.ErrorCode != 0 {
				} else if out.Offset = p.stable(); rp.Timestamp == -2 {
					out.Offset = p.start
				}
				rt.Partitions = append(rt.Partitions, out)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.OffsetForLeaderEpochRequest:
		resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
			rt.Topic = r.Topic
			for _, rp := range r.Partitions {
				out := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
				out.Partition = rp.Partition
				if p := c.part(r.Topic, rp.Partition); p == nil {
					out.ErrorCode = unknownTopic
				} else if out.ErrorCode = p.led(rp.CurrentLeaderEpoch); out.ErrorCode == 0 {
					out.LeaderEpoch, out.EndOffset = p.endOf(rp.LeaderEpoch)
				}
				rt.Partitions = append(rt.Partitions, out)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.AddPartitionsToTxnRequest, *kmsg.EndTxnRequest:
		return c.transaction(req)
	case *kmsg.InitProducerIDRequest:
		if req.TransactionalID != nil {
			return c.transaction(req)
		}
		resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
		c.producers++
		resp.ProducerID = c.producers
		return resp
	case *kmsg.ProduceRequest:
		resp := req.ResponseKind().(*kmsg.ProduceResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewProduceResponseTopic()
			rt.Topic = r.Topic
			for _, rp := range r.Partitions {
				out := kmsg.NewProduceResponseTopicPartition()
				out.Partition = rp.Partition
				if p := c.part(r.Topic, rp.Partition); p == nil {
					out.ErrorCode = unknownTopic
				} else if most, err := strconv.Atoi(c.topics[r.Topic].config["max.message.bytes"]); err == nil && len(rp.Records) > most {
					out.ErrorCode = messageTooLarge
				} else {
					out.BaseOffset, out.ErrorCode = c.produce(p, rp.Records)
				}
				rt.Partitions = append(rt.Partitions, out)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.FetchRequest:
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewFetchResponseTopic()
			rt.Topic = r.Topic
			for _, rp := range r.Partitions {
				rt.Partitions = append(rt.Partitions, c.fetch(c.part(r.Topic, rp.Partition), rp, req.IsolationLevel == 1))
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.DeleteRecordsRequest:
		resp := req.ResponseKind().(*kmsg.DeleteRecordsResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewDeleteRecordsResponseTopic()
			rt.Topic = r.Topic
			for _, rp := range r.Partitions {
				out := kmsg.NewDeleteRecordsResponseTopicPartition()
				out.Partition = rp.Partition
				if p := c.part(r.Topic, rp.Partition); p == nil {
					out.ErrorCode = unknownTopic
				} else if rp.Offset > p.end {
					out.ErrorCode = offsetOutOfRange
				} else {
					p.start = max(p.start, rp.Offset)
					out.LowWatermark = p.start
				}
				rt.Partitions = append(rt.Partitions, out)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	case *kmsg.FindCoordinatorRequest:
		resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
		resp.NodeID = 1
		return resp
	case *kmsg.OffsetCommitRequest:
		resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, r := range req.Topics {
			rt := kmsg.NewOffsetCommitResponseTopic()
			rt.Topic = r.Topic
			for _, rp := range r.Partitions {
				out := kmsg.NewOffsetCommitResponseTopicPartition()
				out.Partition = rp.Partition
				rt.Partitions = append(rt.Partitions, out)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	}
	panic(fmt.Sprintf("the simulated cluster has no answer to %T", req))
}

func (c *cluster) create(name string, partitions int, config map[string]string) *topic {
	c.order++
	t := &topic{config: config}
	copy(t.id[:], strconv.Itoa(c.order)+name)
	for range partitions {
		t.parts = append(t.parts, newPart())
	}
	c.topics[name] = t
	return t
}

func newPart() *part { return &part{writers: map[int64]*writer{}, open: map[int64]int64{}} }

// produce stores a batch, once per sequence number.
func (c *cluster) produce(p *part, raw []byte) (base int64, code int16) {
	be := binary.BigEndian
	producer, sequence := int64(be.Uint64(raw[43:])), int32(be.Uint32(raw[53:]))
	last := sequence + int32(be.Uint32(raw[23:]))
	epoch, inside := int16(be.Uint16(raw[51:])), be.Uint16(raw[21:])&transactional != 0
	if epoch < c.epochs[producer] {
		return -1, invalidProducerEpoch
	}
	w := p.writers[producer]
	if w == nil || w.epoch != epoch {
		w = &writer{epoch: epoch}
		p.writers[producer] = w
	}
	if sequence != w.next {
		for _, b := range w.recent {
			if b.sequence == sequence && b.last == last {
				return b.base, 0
			}
		}
		if sequence < w.next {
			return -1, duplicateSequence
		}
		return -1, outOfOrderSequence
	}
	if inside && !c.enlisted(producer, p) {
		return -1, invalidTxnState
	}
	base = c.store(p, raw)
	if _, open := p.open[producer]; inside && !open {
		p.open[producer] = base
	}
	w.next = last + 1
	w.recent = append(w.recent, struct {
		sequence, last int32
		base           int64
	}{sequence, last, base})
	if len(w.recent) > 5 {
		w.recent = w.recent[1:]
	}
	return base, 0
}

// enlisted reports whether p is part of the producer's open transaction.
func (c *cluster) enlisted(producer int64, p *part) bool {
	for _, t := range c.transactions {
		if t.producer == producer && t.open {
			return slices.Contains(t.parts, p)
		}
	}
	return false
}

func (c *cluster) store(p *part, raw []byte) (base int64) {
	c.order++
	base = p.end
	raw = slices.Clone(raw)
	binary.BigEndian.PutUint64(raw, uint64(base))
	binary.BigEndian.PutUint32(raw[12:], uint32(p.epoch))
	p.end = base + int64(binary.BigEndian.Uint32(raw[23:])) + 1
	p.batches = append(p.batches, stored{base, p.end - 1, raw, nil, c.order})
	return base
}

func (c *cluster) fetch(p *part, req kmsg.FetchRequestTopicPartition, committed bool) kmsg.FetchResponseTopicPartition {
	out := kmsg.NewFetchResponseTopicPartition()
	out.Partition = req.Partition
	from := req.FetchOffset
	switch {
	case p == nil:
		out.ErrorCode = unknownTopic
		return out
	case p.led(req.CurrentLeaderEpoch) != 0:
		out.ErrorCode = p.led(req.CurrentLeaderEpoch)
		return out
	case from < p.start || from > p.end:
		out.ErrorCode = offsetOutOfRange
		return out
	}
	out.HighWatermark, out.LastStableOffset, out.LogStartOffset = p.end, p.stable(), p.start
	end := p.end
	if committed {
		end = p.stable()
	}
	for _, a := range p.aborted {
		if committed && a.last >= from {
			out.AbortedTransactions = append(out.AbortedTransactions, a.FetchResponseTopicPartitionAbortedTransaction)
		}
	}
	first, _ := slices.BinarySearchFunc(p.batches, from, func(s stored, o int64) int { return int(s.last - o) })
	room := c.most()
	for _, s := range p.batches[first:] {
		if room--; room < 0 || s.base >= end {
			break
		}
		out.RecordBatches = append(out.RecordBatches, s.raw...)
	}
	return out
}

// seal recomputes the checksum of a batch.
func seal(raw []byte) {
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// abort turns the last batch of p into one of an aborted transaction.
func (c *cluster) abort(p *part) {
	be := binary.BigEndian
	b := &p.batches[len(p.batches)-1]
	c.producers++
	be.PutUint16(b.raw[21:], transactional)
	be.PutUint64(b.raw[43:], uint64(c.producers))
	seal(b.raw)
	p.abort(c.producers, b.base)
	c.store(p, marker(c.producers, 0, false))
}

// hole stores a batch whose records were removed by compaction, so that only
// its offsets remain.
func (c *cluster) hole(p *part, n int) {
	if len(p.batches) == 0 {
		return
	}
	be := binary.BigEndian
	b := slices.Clone(p.batches[len(p.batches)-1].raw[:61])
	be.PutUint32(b[8:], uint32(len(b)-12))
	be.PutUint16(b[21:], 0)
	be.PutUint32(b[23:], uint32(n-1))
	be.PutUint32(b[57:], 0)
	seal(b)
	c.store(p, b)
}

// everything returns all records that a topic ever had, by partition, including
// those that clients can no longer read.
func (c *cluster) everything(name string) (out [][]ingest.Record) {
	if c.topics[name] == nil {
		return nil
	}
	for _, p := range c.topics[name].parts {
		out = append(out, c.records(p))
	}
	return out
}

// records returns all committed records that a partition ever had.
func (c *cluster) records(p *part) (rs []ingest.Record) {
	whole := newCluster()
	t := whole.create("t", 1, nil).parts[0]
	t.batches, t.end, t.aborted = slices.Clone(p.batches), p.stable(), p.aborted
	for j := range p.batches {
		if b := &t.batches[j]; b.good != nil {
			b.raw = b.good
		}
	}
	k := whole.client()
	defer k.Close()
	for f, next := k.Fetcher("t", 0), int64(0); next < t.end; {
		got, err := f.Poll(context.Background(), next)
		if err != nil {
			panic(err)
		}
		rs, next = append(rs, got.Records...), got.Next
	}
	return rs
}

// orderOf returns the position of the record at an offset in the order in which
// batches were stored.
func (p *part) orderOf(offset int64) int {
	i, _ := slices.BinarySearchFunc(p.batches, offset, func(s stored, o int64) int { return int(s.last - o) })
	return p.batches[i].order
}
