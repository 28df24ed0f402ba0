package ingest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// Config configures a connection to Kafka. Only Brokers is required.
type Config struct {
	Brokers  []string // bootstrap.servers: host:port of some brokers; the port defaults to 9092
	ClientID string   // client.id, in the brokers' logs; "accrete" if empty

	auth.Security // TLS and SASL; plaintext if empty

	Timeout       time.Duration // request.timeout.ms: for one request, including connecting; default 10 s
	MaxWait       time.Duration // fetch.max.wait.ms: how long a Poll waits for records; default 500 ms
	MaxFetchBytes int           // max.partition.fetch.bytes of a Poll; a larger batch is still returned, alone; default 1 MiB
	MaxBatchBytes int           // batch.size: largest batch of Publish; default 1,000,000, just under the brokers' default limit
	Compression   Codec         // compression.type of batches that Publish writes; default none

	// DialContext opens connections. If nil, a net.Dialer does.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Exchange, if not nil, simulates a cluster: it responds to requests, without
	// connections. On an error, sent reports whether a broker may have received
	// the request.
	Exchange func(context.Context, kmsg.Request) (resp kmsg.Response, sent bool, err error)
}

// Client is a connection to a Kafka cluster. It is safe for concurrent use.
type Client struct {
	transport *kafka.Transport
	exchange  func(context.Context, kmsg.Request) (kmsg.Response, bool, error) // replaces transport; nil: none
	cancel    context.CancelFunc                                               // ends the background work of the transport
	addr      net.Addr
	clientID  string
	username  string
	mechanism string
	timeout   time.Duration
	maxWait   time.Duration
	fetch     int
	batch     int
	codec     Codec
	answered  atomic.Bool  // a broker has responded, so the security settings are right
	opened    atomic.Int64 // connections so far
	throttled atomic.Int64 // until when a broker throttles this client, in nanoseconds since 1970

	mu      sync.Mutex
	conns   map[net.Conn]struct{} // open connections; nil once the client is closed
	leaders map[string][]leader   // by topic, one for each partition
}

// leader is the broker that leads a partition, and the leader epoch; -1 if unknown.
type leader struct{ id, epoch int32 }

// New validates c and returns a client. It does no input or output: the first
// request returns an error if no broker is available.
func New(c Config) (*Client, error) {
	if len(c.Brokers) == 0 {
		return nil, fmt.Errorf("bootstrap.servers is empty: name at least one broker as host:port")
	}
	addrs := make([]string, len(c.Brokers))
	for i, b := range c.Brokers {
		host, port, err := net.SplitHostPort(b)
		if err != nil && strings.Contains(err.Error(), "missing port") {
			host, port, err = strings.Trim(b, "[]"), "9092", nil
		}
		if err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("bootstrap.servers: %q is not host:port", b)
		}
		addrs[i] = net.JoinHostPort(host, port)
	}
	if _, err := c.Security.TLS(); err != nil {
		return nil, err
	}
	mechanism, err := c.Security.SASL()
	if err != nil {
		return nil, err
	}
	if c.MaxFetchBytes > recordsLimit {
		return nil, fmt.Errorf("max.partition.fetch.bytes is %d: at most %d", c.MaxFetchBytes, recordsLimit)
	}
	if c.MaxBatchBytes > recordsLimit {
		return nil, fmt.Errorf("batch.size is %d: at most %d", c.MaxBatchBytes, recordsLimit)
	}
	k := &Client{
		exchange: c.Exchange,
		addr:     kafka.TCP(addrs...),
		clientID: cmp.Or(c.ClientID, "accrete"),
		username: c.Username,
		timeout:  cmp.Or(c.Timeout, 10*time.Second),
		maxWait:  cmp.Or(c.MaxWait, 500*time.Millisecond),
		fetch:    cmp.Or(c.MaxFetchBytes, 1<<20),
		batch:    cmp.Or(c.MaxBatchBytes, 1_000_000),
		codec:    c.Compression,
		conns:    map[net.Conn]struct{}{},
		leaders:  map[string][]leader{},
	}
	if mechanism != nil {
		k.mechanism = mechanism.Name()
	}
	dial := c.DialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: k.timeout, KeepAlive: 30 * time.Second}).DialContext
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	k.transport = &kafka.Transport{
		Context: ctx,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, dialError{err}
			}
			return k.open(ctx, conn, address, c.Security, mechanism)
		},
		DialTimeout:    k.timeout,
		MetadataTTL:    time.Second,
		MetadataTopics: []string{}, // brokers only: this package requests the metadata of topics itself
		ClientID:       k.clientID,
	}
	return k, nil
}

// Close closes all connections. Requests that still wait for a response fail.
func (c *Client) Close() {
	c.mu.Lock()
	conns := c.conns
	c.conns = nil
	c.mu.Unlock()
	c.cancel()
	c.transport.CloseIdleConnections()
	for conn := range conns {
		conn.Close()
	}
}

func (c *Client) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns == nil
}

func (c *Client) brokers() string { return c.addr.String() }

// A trackedConn removes itself from its client's set when it is closed.
type trackedConn struct {
	net.Conn
	client  *Client
	number  int64
	expires time.Time // when to replace the connection; zero: never
}

// LocalAddr carries the connection through TLS and kafka-go's types to
// call.RawExchange.
func (t *trackedConn) LocalAddr() net.Addr { return trackedAddr{t.Conn.LocalAddr(), t} }

type trackedAddr struct {
	net.Addr
	conn *trackedConn
}

// open encrypts and authenticates a new connection to the broker at address.
func (c *Client) open(ctx context.Context, conn net.Conn, address string, security auth.Security, mechanism sasl.Mechanism) (net.Conn, error) {
	t, err := c.track(conn)
	if err != nil {
		return nil, err
	}
	conn = t
	if security.Encrypted() {
		secure, err := security.TLS() // the files may have changed since New
		if err != nil {
			conn.Close()
			return nil, credentialError{err}
		}
		if conn, err = handshake(ctx, conn, secure, address); err != nil {
			return nil, dialError{err}
		}
	}
	if mechanism == nil {
		return conn, nil
	}
	lifetime, err := authenticate(ctx, conn, mechanism, c.clientID, address)
	if err != nil {
		conn.Close()
		return nil, err
	}
	t.expire(lifetime)
	return conn, nil
}

func (c *Client) track(conn net.Conn) (*trackedConn, error) {
	t := &trackedConn{Conn: conn, client: c, number: c.opened.Add(1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		conn.Close()
		return nil, ErrClosed
	}
	c.conns[t] = struct{}{}
	return t, nil
}

func (t *trackedConn) Close() error {
	t.client.mu.Lock()
	delete(t.client.conns, t)
	t.client.mu.Unlock()
	return t.Conn.Close()
}
