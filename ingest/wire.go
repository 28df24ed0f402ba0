package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A call is one request and its response in kmsg's types, carried by kafka-go's
// Transport. The Transport provides connections, routing, TLS and SASL, and leaves
// the encoding to this package. Thus the response to a fetch is bounded and its
// batches arrive undecoded, a produce request carries the batch as encoded here,
// metadata includes topic ids, and kafka-go's global table of messages stays
// unchanged.
type call struct {
	req      kmsg.Request
	resp     kmsg.Response // filled in by RawExchange
	clientID string
	limit    int   // maximum size of a response in bytes
	conn     int64 // number of the connection that carried the response
	opened   int64 // number of the newest connection when the call began

	// route selects the broker; nil means any broker.
	route func(protocol.Cluster) (protocol.Broker, error)

	sent atomic.Int32 // one of the values below
}

// The states of call.sent, which changes only once in each attempt. A caller that gives
// up on a call therefore knows whether a broker may have received it.
const (
	waiting  int32 = iota
	writing        // the first byte may have been sent
	withdrew       // the caller gave up before that: nothing will be written
)

var errWithdrawn = errors.New("request cancelled before it was sent")

// responseLimit bounds the size of responses that carry no records.
const responseLimit = 16 << 20

func (c *call) ApiKey() protocol.ApiKey { return protocol.ApiKey(c.req.Key()) }

func (c *call) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	if c.route == nil {
		return protocol.Broker{ID: -1}, nil
	}
	return c.route(cluster)
}

// newest is the version of each request that this package was written for. None is
// newer than what kafka-go knows, because kafka-go reports a broker's versions
// only up to its own. Metadata, which this package needs in a newer version, is
// negotiated separately. A request that is missing here would be sent as version
// 0, which brokers remove sooner or later.
var newest = map[int16]int16{
	0:  8,  // Produce
	1:  11, // Fetch
	2:  5,  // ListOffsets
	8:  7,  // OffsetCommit
	9:  5,  // OffsetFetch
	10: 2,  // FindCoordinator
	11: 5,  // JoinGroup
	12: 3,  // Heartbeat
	13: 2,  // LeaveGroup
	14: 3,  // SyncGroup
	19: 5,  // CreateTopics
	21: 0,  // DeleteRecords, unknown to kafka-go
	22: 4,  // InitProducerID
	23: 3,  // OffsetForLeaderEpoch, unknown to kafka-go and so negotiated separately
	24: 3,  // AddPartitionsToTxn
	26: 3,  // EndTxn
	32: 3,  // DescribeConfigs
	44: 0,  // IncrementalAlterConfigs
}

// Required is called by kafka-go with the versions negotiated on the connection.
func (c *call) Required(versions map[protocol.ApiKey]int16) bool {
	if v, ok := newest[c.req.Key()]; ok {
		c.req.SetVersion(min(v, versions[c.ApiKey()]))
	}
	return true
}

// correlation numbers requests. A connection has at most one in flight.
var correlation atomic.Int32

func (c *call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	var on *trackedConn
	if conn, ok := rw.(interface{ LocalAddr() net.Addr }); ok {
		if at, ok := conn.LocalAddr().(trackedAddr); ok {
			on = at.conn
		}
	}
	if on != nil && on.expired() {
		return nil, errExpired
	}
	if !c.sent.CompareAndSwap(waiting, writing) {
		return nil, errWithdrawn
	}
	switch c.req.(type) {
	case *kmsg.MetadataRequest:
		if err := c.negotiate(rw, 0, 12); err != nil {
			return nil, c.classify(on, err)
		}
	case *kmsg.OffsetForLeaderEpochRequest:
		if err := c.negotiate(rw, 2, newest[23]); err != nil {
			return nil, c.classify(on, err)
		}
	}
	resp, err := exchange(rw, c.clientID, c.req, c.limit)
	if err != nil {
		return nil, c.classify(on, err)
	}
	c.resp = resp
	if on != nil {
		c.conn = on.number
	}
	return c, nil
}

// negotiate requests from the broker itself which versions of the request it
// supports, and selects one from least to most. kafka-go's own result is limited
// to the newest Metadata version without topic ids, and lacks requests that
// kafka-go does not know.
func (c *call) negotiate(rw io.ReadWriter, least, most int16) error {
	resp, err := exchange(rw, c.clientID, &kmsg.ApiVersionsRequest{}, responseLimit)
	if err != nil {
		return err
	}
	v := resp.(*kmsg.ApiVersionsResponse)
	if v.ErrorCode != 0 {
		return kafka.Error(v.ErrorCode)
	}
	for _, k := range v.ApiKeys {
		if k.ApiKey == c.req.Key() && k.MaxVersion >= least {
			c.req.SetVersion(min(most, k.MaxVersion))
			return nil
		}
	}
	return fmt.Errorf("%s: %w", kmsg.NameForKey(c.req.Key()), errors.ErrUnsupported)
}

// exchange writes req and reads the response to it.
func exchange(rw io.ReadWriter, clientID string, req kmsg.Request, limit int) (kmsg.Response, error) {
	id := correlation.Add(1)
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	if _, err := rw.Write(f.AppendRequest(nil, req, id)); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, noEOF(err)
	}
	size := int(int32(binary.BigEndian.Uint32(head[:]))) - 4
	if size < 0 || size > limit {
		return nil, fmt.Errorf("%w: response of %d bytes to %s, the limit is %d", ErrTooLarge, size, kmsg.NameForKey(req.Key()), limit)
	}
	if got := int32(binary.BigEndian.Uint32(head[4:])); got != id {
		return nil, fmt.Errorf("%w: response %d to request %d", ErrCorrupt, got, id)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, noEOF(err)
	}
	resp := req.ResponseKind()
	if resp.IsFlexible() && resp.Key() != 18 { // the header of ApiVersions never is
		if len(body) == 0 || body[0] != 0 {
			return nil, fmt.Errorf("%w: unknown tagged fields in a response header", ErrCorrupt)
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%w: response to %s: %w", ErrCorrupt, kmsg.NameForKey(req.Key()), err)
	}
	return resp, nil
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF: the connection broke.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// connKey is the context key of an *int64 in which do stores the number of the
// connection that it used.
type connKey struct{}

// do sends the request once. If the request is idempotent and its connection turns out to
// have ended, do sends it again on another connection. sent reports whether a broker may
// have received the request, which matters for requests that change something.
func (c *Client) do(ctx context.Context, req kmsg.Request, limit int, route func(protocol.Cluster) (protocol.Broker, error)) (resp kmsg.Response, sent bool, err error) {
	if c.closed() {
		return nil, false, ErrClosed
	}
	if _, ok := newest[req.Key()]; !ok && req.Key() != (*kmsg.MetadataRequest)(nil).Key() {
		panic("ingest: no version is known for " + kmsg.NameForKey(req.Key()))
	}
	caller, atOnce := ctx, ctx.Err() != nil
	ctx, cancel := context.WithTimeout(ctx, c.timeout+c.maxWait)
	defer cancel()
	if c.exchange != nil {
		if resp, sent, err = c.exchange(ctx, req); err != nil {
			return nil, sent, c.explain(c.overdue(caller, atOnce, err))
		}
		c.heard(resp)
		return resp, true, nil
	}
	k := &call{req: req, clientID: c.clientID, limit: limit, route: route, opened: c.opened.Load()}
	failpoint()
	m, err := c.transport.RoundTrip(ctx, c.addr, k)
	for ctx.Err() == nil && !c.closed() && k.again(err) {
		m, err = c.transport.RoundTrip(ctx, c.addr, k)
	}
	failpoint()
	if err != nil {
		// The connection's goroutine may still hold the call. From here on, it
		// does not write the request unless it has already begun to.
		sent = !k.sent.CompareAndSwap(waiting, withdrew)
		return nil, sent, c.explain(c.overdue(caller, atOnce, err))
	}
	c.heard(m.(*call).resp)
	if on, ok := ctx.Value(connKey{}).(*int64); ok {
		*on = m.(*call).conn
	}
	return m.(*call).resp, true, nil
}

// heard notes that a broker has responded, and until when it throttles the client.
func (c *Client) heard(resp kmsg.Response) {
	c.answered.Store(true)
	if t, ok := resp.(kmsg.ThrottleResponse); ok {
		if ms, _ := t.Throttle(); ms > 0 {
			c.throttled.Store(time.Now().Add(time.Duration(ms) * time.Millisecond).UnixNano())
		}
	}
}
