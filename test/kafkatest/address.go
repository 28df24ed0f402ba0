package kafkatest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
)

// Address returns an address of this machine for a server that a test stops and starts
// again. Another program does not take its port meanwhile: on Linux, which has all of
// 127.0.0.0/8, nobody else uses its host.
func Address(t testing.TB) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.N(254), rand.N(256), 1+rand.N(254))
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
