package broker

import (
	"errors"
	"net"
)

// largestRequest is the maximum size of a request, the default of Kafka's
// socket.request.max.bytes.
const largestRequest = 100 << 20

var errNotKafka = errors.New("the first bytes are not those of a Kafka request")

// listener accepts the connections of Kafka clients. kfake allocates whatever the first four bytes
// of a request name as its size, and then waits for it: 369 MB for a TLS handshake, 1.2 GB for an
// HTTP request.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &checked{Conn: c}, nil
}

// checked is a connection that ends if its first request is larger than largestRequest. It must not
// be read concurrently.
type checked struct {
	net.Conn
	size uint32 // of the first request, as far as it was read
	read int    // bytes of size that were read, at most 4
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for _, b := range p[:n] {
		if c.read == 4 {
			break
		}
		c.size = c.size<<8 | uint32(b)
		c.read++
	}
	if c.read == 4 && c.size > largestRequest {
		_ = c.Close()
		return 0, errNotKafka
	}
	return n, err
}
