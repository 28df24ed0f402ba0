package ingest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// A rejected handshake is a permanent error. A connection that broke is a temporary
// one, whichever layer reports it.
func TestTLSRefusedOrBroken(t *testing.T) {
	server, ca := certificate(t)
	other, _ := certificate(t)
	mutual := server.Clone()
	mutual.ClientAuth = tls.RequireAnyClientCert
	mutual.MaxVersion = tls.VersionTLS12 // in 1.3, the client learns of it after the handshake
	old := server.Clone()
	old.MaxVersion = tls.VersionTLS11
	serve := func(config *tls.Config) func(net.Conn) {
		return func(c net.Conn) {
			tls.Server(c, config).Handshake()
			io.Copy(io.Discard, c) // so that the client reads what was written before the connection ends
		}
	}
	for _, c := range []struct {
		name    string
		serve   func(net.Conn)
		refused bool
	}{
		{"another authority", serve(other), true},
		{"a certificate of ours is wanted", serve(mutual), true},
		{"TLS 1.1", serve(old), true},
		{"no TLS", func(c net.Conn) { c.Read(make([]byte, 4096)); io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, true},
		{"closed at once", func(c net.Conn) {}, false},
		{"closed in the handshake", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{22, 3, 3, 0}) }, false},
		{"an alert of its own trouble", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{21, 3, 3, 0, 2, 2, 80}) }, false},
		{"an alert of refusal", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) }, true},
		{"silence", func(c net.Conn) { io.Copy(io.Discard, c) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			patience := time.Minute
			if c.name == "silence" {
				patience = 500 * time.Millisecond
			}
			k, err := New(Config{
				Brokers: []string{"localhost:9092"}, Security: auth.Security{Protocol: "SSL", CAFile: ca}, Timeout: patience,
				DialContext: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						c.serve(theirs)
					}()
					return ours, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			_, err = k.Topic(within(t, time.Minute), "t")
			if errors.Is(err, ErrDenied) != c.refused || Temporary(err) == c.refused {
				t.Errorf("refused %v, temporary %v: %v", errors.Is(err, ErrDenied), Temporary(err), err)
			}
			// A broker without TLS closes the connection.
			if c.name == "closed in the handshake" && !strings.Contains(err.Error(), "check security.protocol") {
				t.Errorf("the error does not name the option: %v", err)
			}
		})
	}
}

// Damage to an established connection is a temporary error, although TLS reports it.
func TestTLSConnectionBreaks(t *testing.T) {
	server, ca := certificate(t)
	k := newCluster(t, kfake.TLS(server), kfake.SeedTopics(1, "t"))
	var damage atomic.Pointer[func([]byte)]
	c := k.client(t, func(cfg *Config) {
		cfg.Security = auth.Security{Protocol: "SSL", CAFile: ca}
		dial := cfg.DialContext
		cfg.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return &damagedConn{conn, &damage}, err
		}
	})
	for name, d := range map[string]func([]byte){
		"a flipped bit":  func(b []byte) { b[len(b)-1] ^= 1 },
		"another record": func(b []byte) { copy(b, "HTTP/") },
	} {
		damage.Store(nil)
		if _, err := c.Topic(within(t, time.Minute), "t"); err != nil {
			t.Fatal(err)
		}
		damage.Store(&d)
		if _, err := c.Topic(within(t, time.Minute), "t"); err == nil || errors.Is(err, ErrDenied) || !Temporary(err) {
			t.Errorf("%s: temporary %v: %v", name, Temporary(err), err)
		}
	}
}

// A damagedConn applies damage to the bytes of each read.
type damagedConn struct {
	net.Conn
	damage *atomic.Pointer[func([]byte)]
}

func (c *damagedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if f := c.damage.Load(); f != nil && n > 4 {
		(*f)(b[:n])
	}
	return n, err
}
