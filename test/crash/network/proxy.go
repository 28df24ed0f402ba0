// Package network is a faulty network between a program and its broker.
package network

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Proxy is a faulty network between a learner and its broker. It listens on
// another loopback address and replaces the broker's advertised address with
// its own.
type Proxy struct {
	listener net.Listener
	to       string
	old, new []byte // host names with their length, as encoded in a response

	mu    sync.Mutex
	rng   *rand.Rand
	conns map[*wire]struct{}
	kind  int // kind of fault of new connections
	hurt  int // connections that had a fault
}

// Kinds of faults of a connection.
const (
	Healthy  = iota
	Reset    // after a number of bytes
	Slow     // a few milliseconds for each request and response
	HalfOpen // after a number of requests there are no responses, and the connection stays open
)

type wire struct {
	client, broker net.Conn
	kind           int
	left           int // bytes or responses before the fault
}

// NewProxy returns a Proxy of the broker at an address, without faults.
func NewProxy(to string, seed uint64) (*Proxy, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", port))
	if err != nil {
		return nil, err
	}
	text := func(s string) []byte { return append([]byte{0, byte(len(s))}, s...) }
	p := &Proxy{listener: l, to: to, old: text(host), new: text("127.0.0.2"), rng: rand.New(rand.NewPCG(seed, 5)), conns: map[*wire]struct{}{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(c)
		}
	}()
	return p, nil
}

// Address returns where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close resets all connections, and accepts no others.
func (p *Proxy) Close() {
	p.listener.Close()
	p.Cut()
}

// Cut resets all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.conns {
		w.reset()
		p.hurt++
	}
}

// Suffer makes new connections faulty, in the given way.
func (p *Proxy) Suffer(kind int) {
	p.mu.Lock()
	p.kind = kind
	p.mu.Unlock()
}

func (w *wire) reset() {
	w.client.(*net.TCPConn).SetLinger(0) // RST instead of FIN
	w.client.Close()
	w.broker.Close()
}

func (p *Proxy) serve(client net.Conn) {
	broker, err := net.Dial("tcp", p.to)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	w := &wire{client: client, broker: broker, kind: p.kind}
	switch w.kind {
	case Reset:
		w.left = 1 + p.rng.IntN(40_000)
	case HalfOpen:
		w.left = 1 + p.rng.IntN(20)
	}
	if w.kind != Healthy {
		p.hurt++
	}
	p.conns[w] = struct{}{}
	p.mu.Unlock()
	end := func() {
		client.Close()
		broker.Close()
		p.mu.Lock()
		delete(p.conns, w)
		p.mu.Unlock()
	}
	go func() {
		defer end()
		p.requests(w)
	}()
	go func() {
		defer end()
		p.answers(w)
	}()
}

// requests forwards bytes as they arrive.
func (p *Proxy) requests(w *wire) {
	buf := make([]byte, 32<<10)
	for {
		n, err := w.client.Read(buf)
		if err != nil {
			return
		}
		if w.kind == Reset {
			if w.left -= n; w.left < 0 { // within a request
				w.broker.Write(buf[:max(0, n+w.left)])
				w.reset()
				return
			}
		}
		if _, err := w.broker.Write(buf[:n]); err != nil {
			return
		}
	}
}

// answers forwards complete responses one by one.
func (p *Proxy) answers(w *wire) {
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(w.broker, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(w.broker, body); err != nil {
			return
		}
		body = bytes.ReplaceAll(body, p.old, p.new)
		// Newer responses use the compact form: the length plus one, in one
		// byte.
		body = bytes.ReplaceAll(body, append([]byte{p.old[1] + 1}, p.old[2:]...), append([]byte{p.new[1] + 1}, p.new[2:]...))
		switch w.kind {
		case Slow:
			time.Sleep(3 * time.Millisecond)
		case HalfOpen:
			if w.left--; w.left < 0 {
				continue // read, but not forwarded
			}
		}
		if _, err := w.client.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// Count returns the number of connections that had a fault.
func (p *Proxy) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hurt
}
