package broker

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A client that speaks another protocol is disconnected at once. The broker neither waits for the
// request that its first bytes seem to announce, nor allocates memory for it.
func TestOtherProtocolsAreDisconnected(t *testing.T) {
	b, err := Start(Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for name, first := range map[string]string{"HTTP": "GET / HTTP/1.1\r\n\r\n", "TLS": "\x16\x03\x01\x02\x00\x01\x00", "a negative size": "\xff\xff\xff\xff"} {
		c, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(first)); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %d bytes, %v; want the end of the connection", name, n, err)
		}
		_ = c.Close()
	}
	if err := client(t, b.Addr()).Create(t.Context(), "in", 1, nil); err != nil {
		t.Errorf("a Kafka client after that: %v", err)
	}
}
