package kafkatest

import (
	"net"
	"testing"

	"github.com/accrete-ml/accrete/test/address"
)

// Address returns an address of this machine for a server that a test stops and starts
// again, on a host of its own.
func Address(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address.OwnHost(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
