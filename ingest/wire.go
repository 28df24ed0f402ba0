package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A call is one request and its answer in kmsg's types, carried by kafka-go's
// Transport: that keeps its connections, routing, TLS and SASL, and leaves the
// bytes to us. So a fetch arrives undecoded and bounded, a produce carries the
// batch as we encoded it, metadata carries topic ids, and nothing has to be
// replaced in kafka-go's global table of messages.
type call struct {
	req      kmsg.Request
	resp     kmsg.Response // filled in by RawExchange
	clientID string
	limit    int   // bytes that an answer may have
	conn     int64 // number of the connection that carried the answer

	// route picks the broker; nil means that any broker will do.
	route func(protocol.Cluster) (protocol.Broker, error)

	sent atomic.Int32 // one of the values below
}

// The fate of a call. It moves once, so that whoever gives up on a call knows
// whether a broker can have seen it.
const (
	waiting  int32 = iota
	writing        // the first byte may be on its way
	withdrew       // given up before that: nothing will be written
)

var errWithdrawn = errors.New("request withdrawn before it was sent")

// responseLimit bounds the answers that carry no records.
const responseLimit = 16 << 20

func (c *call) ApiKey() protocol.ApiKey { return protocol.ApiKey(c.req.Key()) }

func (c *call) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	if c.route == nil {
		return protocol.Broker{ID: -1}, nil
	}
	return c.route(cluster)
}

// newest is the version of each request that this package was written for. It
// is what kafka-go knows too, as through it we learn what a broker has only up
// to there; Metadata, of which we need more, is negotiated apart. A request
// that is missing here would go out as version 0, which brokers drop in time.
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
	21: 0,  // DeleteRecords, which kafka-go lacks
	22: 4,  // InitProducerID
	23: 3,  // OffsetForLeaderEpoch, which kafka-go lacks, and so negotiated apart
	24: 3,  // AddPartitionsToTxn
	26: 3,  // EndTxn
	32: 3,  // DescribeConfigs
	44: 0,  // IncrementalAlterConfigs
}

// Required is where kafka-go tells the versions that the connection agreed on.
func (c *call) Required(versions map[protocol.ApiKey]int16) bool {
	if v, ok := newest[c.req.Key()]; ok {
		c.req.SetVersion(min(v, versions[c.ApiKey()]))
	}
	return true
}

// correlation numbers requests; a connection has one outstanding at a time.
var correlation atomic.Int32

func (c *call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if !c.sent.CompareAndSwap(waiting, writing) {
		return nil, errWithdrawn
	}
	switch c.req.(type) {
	case *kmsg.MetadataRequest:
		if err := c.negotiate(rw, 0, 12); err != nil {
			return nil, err
		}
	case *kmsg.OffsetForLeaderEpochRequest:
		if err := c.negotiate(rw, 2, newest[23]); err != nil {
			return nil, err
		}
	}
	resp, err := exchange(rw, c.clientID, c.req, c.limit)
	if err != nil {
		return nil, err
	}
	c.resp = resp
	if conn, ok := rw.(interface{ LocalAddr() net.Addr }); ok {
		if at, ok := conn.LocalAddr().(numberedAddr); ok {
			c.conn = at.number
		}
	}
	return c, nil
}

// negotiate asks the broker itself which versions of the request it has, from
// least to most: of Metadata kafka-go's answer ends at the newest one without
// topic ids, and of others it says nothing.
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

// exchange writes req and reads the answer to it.
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
		return nil, fmt.Errorf("%w: an answer of %d bytes to %s, at most %d are read", ErrTooLarge, size, kmsg.NameForKey(req.Key()), limit)
	}
	if got := int32(binary.BigEndian.Uint32(head[4:])); got != id {
		return nil, fmt.Errorf("%w: answer %d to request %d", ErrCorrupt, got, id)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, noEOF(err)
	}
	resp := req.ResponseKind()
	if resp.IsFlexible() && resp.Key() != 18 { // ApiVersions: its header never is
		if len(body) == 0 || body[0] != 0 {
			return nil, fmt.Errorf("%w: unknown tags in the header of an answer", ErrCorrupt)
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%w: answer to %s: %w", ErrCorrupt, kmsg.NameForKey(req.Key()), err)
	}
	return resp, nil
}

// noEOF makes a connection that ended look like one that broke.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// connKey is of an *int64 in a context, where do leaves the number of the
// connection that it used.
type connKey struct{}

// do runs the call once. sent says whether a broker may have seen the request,
// which matters where that changes something.
func (c *Client) do(ctx context.Context, req kmsg.Request, limit int, route func(protocol.Cluster) (protocol.Broker, error)) (resp kmsg.Response, sent bool, err error) {
	if c.closed() {
		return nil, false, ErrClosed
	}
	if _, ok := newest[req.Key()]; !ok && req.Key() != (*kmsg.MetadataRequest)(nil).Key() {
		panic("ingest: no version is known of " + kmsg.NameForKey(req.Key()))
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout+c.maxWait)
	defer cancel()
	if c.exchange != nil {
		if resp, sent, err = c.exchange(ctx, req); err != nil {
			return nil, sent, c.explain(err)
		}
		c.answered.Store(true)
		return resp, true, nil
	}
	k := &call{req: req, clientID: c.clientID, limit: limit, route: route}
	failpoint()
	m, err := c.transport.RoundTrip(ctx, c.addr, k)
	failpoint()
	if err != nil {
		// The connection's goroutine may still hold the call: after this it
		// writes nothing, unless it has begun.
		sent = !k.sent.CompareAndSwap(waiting, withdrew)
		return nil, sent, c.explain(err)
	}
	c.answered.Store(true)
	if on, ok := ctx.Value(connKey{}).(*int64); ok {
		*on = m.(*call).conn
	}
	return m.(*call).resp, true, nil
}
