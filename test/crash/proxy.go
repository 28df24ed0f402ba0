package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// proxy is a bad network between the learner and the broker: it listens on
// another address of the loopback, and tells clients to come back to itself
// where the broker names its own.
type proxy struct {
	listener net.Listener
	to       string
	old, new []byte // host names with their length, as they are in an answer

	mu    sync.Mutex
	rng   *rand.Rand
	conns map[*wire]struct{}
	kind  int // of what happens to new connections
	hurt  int // connections that something happened to
}

// What can happen to a connection.
const (
	healthy  = iota
	reset    // after some bytes
	slow     // a few milliseconds for each request and answer
	halfOpen // after some requests nothing comes back, and nothing ends it
	kinds
)

type wire struct {
	client, broker net.Conn
	kind           int
	left           int // bytes or answers
}

func newProxy(to string, seed uint64) (*proxy, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", port))
	if err != nil {
		return nil, err
	}
	text := func(s string) []byte { return append([]byte{0, byte(len(s))}, s...) }
	p := &proxy{listener: l, to: to, old: text(host), new: text("127.0.0.2"), rng: rand.New(rand.NewPCG(seed, 5)), conns: map[*wire]struct{}{}}
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

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) close() {
	p.listener.Close()
	p.cut()
}

// cut resets every connection there is.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.conns {
		w.reset()
		p.hurt++
	}
}

// suffer makes the connections from now on bad ones of a kind.
func (p *proxy) suffer(kind int) {
	p.mu.Lock()
	p.kind = kind
	p.mu.Unlock()
}

func (w *wire) reset() {
	w.client.(*net.TCPConn).SetLinger(0) // RST and no FIN
	w.client.Close()
	w.broker.Close()
}

func (p *proxy) serve(client net.Conn) {
	broker, err := net.Dial("tcp", p.to)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	w := &wire{client: client, broker: broker, kind: p.kind}
	switch w.kind {
	case reset:
		w.left = 1 + p.rng.IntN(40_000)
	case halfOpen:
		w.left = 1 + p.rng.IntN(20)
	}
	if w.kind != healthy {
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

// requests passes bytes on as they come.
func (p *proxy) requests(w *wire) {
	buf := make([]byte, 32<<10)
	for {
		n, err := w.client.Read(buf)
		if err != nil {
			return
		}
		if w.kind == reset {
			if w.left -= n; w.left < 0 { // in the middle of a request
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

// answers passes one whole answer on after the other.
func (p *proxy) answers(w *wire) {
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
		// The compact form of newer answers has the length plus one in one byte.
		body = bytes.ReplaceAll(body, append([]byte{p.old[1] + 1}, p.old[2:]...), append([]byte{p.new[1] + 1}, p.new[2:]...))
		switch w.kind {
		case slow:
			time.Sleep(3 * time.Millisecond)
		case halfOpen:
			if w.left--; w.left < 0 {
				continue // read, and never passed on
			}
		}
		if _, err := w.client.Write(append(head, body...)); err != nil {
			return
		}
	}
}
