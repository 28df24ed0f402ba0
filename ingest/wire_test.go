package ingest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// A wire observes, damages and cuts connections between a client and its cluster.
type wire struct {
	count    atomic.Int32
	onAnswer func(key int16, b []byte)            // called with a part of a response to a request of this kind
	cut      func(key int16) (before, after bool) // cut the connection before or after the request is sent
}

var errCut = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

func (w *wire) install(k cluster) func(*Config) {
	return func(cfg *Config) {
		cfg.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dial := new(net.Dialer).DialContext
			if k.net != nil {
				dial = k.net.DialContext
			}
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &wireConn{Conn: conn, wire: w}, nil
		}
	}
}

type wireConn struct {
	net.Conn
	wire *wire
	mu   sync.Mutex
	key  int16 // of the current request
	dead bool
}

func (c *wireConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(b) > 8 {
		c.key = int16(binary.BigEndian.Uint16(b[4:]))
		if c.wire.cut != nil {
			before, after := c.wire.cut(c.key)
			if before {
				c.Conn.Close()
				return 0, errCut
			}
			c.dead = after
		}
	}
	return c.Conn.Write(b)
}

func (c *wireConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	key, dead := c.key, c.dead
	c.mu.Unlock()
	n, err := c.Conn.Read(b)
	if dead {
		c.Conn.Close()
		return 0, errCut
	}
	if n > 0 && c.wire.onAnswer != nil {
		c.wire.onAnswer(key, b[:n])
	}
	return n, err
}

// manyPorts assigns each broker its own port on a virtual network.
func manyPorts(n *kfake.VirtualNetwork) func(network, address string) (net.Listener, error) {
	var port atomic.Int32
	return func(network, _ string) (net.Listener, error) {
		return n.Listen(network, net.JoinHostPort("localhost", big.NewInt(int64(9000+port.Add(1))).String()))
	}
}

// certificate returns a certificate for localhost, and a file with its authority.
func certificate(t *testing.T) (*tls.Config, string) {
	text, path := keyPair(t)
	pair, err := tls.X509KeyPair([]byte(text), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}, path
}

// keyPair returns a certificate for localhost, its own authority, with its key, and
// a file with both.
func keyPair(t *testing.T) (text, path string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	path = filepath.Join(t.TempDir(), "pair.pem")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return text, path
}
