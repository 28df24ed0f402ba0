package ingest

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The same trouble has the same text on every connection, so that logs and pages count it
// instead of repeating it.
func TestErrorsDoNotNameTheOwnPort(t *testing.T) {
	c, err := New(Config{Brokers: []string{"127.0.0.1:9"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, cause := range []error{os.ErrDeadlineExceeded, syscall.ECONNRESET} {
		var texts [2]string
		for i := range texts {
			var err error = &net.OpError{
				Op: "read", Net: "tcp", Err: cause,
				Source: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50000 + i}, Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9},
			}
			if cause == syscall.ECONNRESET {
				err = endedError{err}
			}
			texts[i] = c.explain(err).Error()
		}
		if texts[0] != texts[1] || !strings.Contains(texts[0], "127.0.0.1:9: "+cause.Error()) {
			t.Errorf("%q and %q, want the same, with the broker and %v", texts[0], texts[1], cause)
		}
	}
}

// A broker without TLS may reset the connection of a client that begins a handshake.
func TestErrorsOfAResetSayWhatToCheck(t *testing.T) {
	c, err := New(Config{Brokers: []string{"127.0.0.1:9"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reset := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	if err := c.explain(reset); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "check security.protocol") {
		t.Errorf("before any answer: %v", err)
	}
	c.answered.Store(true)
	if err := c.explain(reset); strings.Contains(err.Error(), "check") {
		t.Errorf("after an answer: %v", err)
	}
}

// Once a broker of a cluster has answered, another one that is down is no reason to doubt
// bootstrap.servers.
func TestErrorsOfOneBrokerOfSeveral(t *testing.T) {
	c, err := New(Config{Brokers: []string{"127.0.0.1:9", "127.0.0.1:10"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	down := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 10}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	if err := c.explain(down); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "is bootstrap.servers right") {
		t.Errorf("before any answer: %v", err)
	}
	c.answered.Store(true)
	if err := c.explain(down); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "127.0.0.1:10") || strings.Contains(err.Error(), "127.0.0.1:9") || strings.Contains(err.Error(), "bootstrap") {
		t.Errorf("after an answer: %v", err)
	}
}

// Who grants a permission has to know which one.
func TestErrorsNameThePermission(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	c, ctx := k.client(t), within(t, time.Minute)
	const denied = int16(kafka.TopicAuthorizationFailed)
	k.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		resp := r.ResponseKind().(*kmsg.FetchResponse)
		resp.Topics = []kmsg.FetchResponseTopic{{Topic: "t", Partitions: []kmsg.FetchResponseTopicPartition{{ErrorCode: denied}}}}
		return resp, nil, true
	})
	if _, err := c.Fetcher("t", 0).Poll(ctx, 0); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), `topic "t": grant READ`) {
		t.Errorf("read: %v", err)
	}
	k.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		resp := r.ResponseKind().(*kmsg.ProduceResponse)
		resp.Topics = []kmsg.ProduceResponseTopic{{Topic: "t", Partitions: []kmsg.ProduceResponseTopicPartition{{ErrorCode: denied}}}}
		return resp, nil, true
	})
	if _, err := c.Producer().Append(ctx, "t", 0, values("v")); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), `topic "t": grant WRITE`) {
		t.Errorf("write: %v", err)
	}
}

// A server that accepts connections and says nothing, such as a broker without TLS that waits for
// the rest of a handshake, may be one of another configuration.
func TestErrorsOfASilentBrokerSayWhatToCheck(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := New(Config{Brokers: []string{l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Topic(within(t, 200*time.Millisecond), "t"); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "check bootstrap.servers and security.protocol") {
		t.Errorf("the error does not say what to check: %v", err)
	}
	c.answered.Store(true)
	if _, err := c.Topic(within(t, 200*time.Millisecond), "t"); !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "check") {
		t.Errorf("the error of a broker that has answered before: %v", err)
	}
}

// A deadline of the caller says nothing about the broker, which may be well.
func TestADeadlineOfTheCallerIsNamed(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c, err := New(Config{Brokers: []string{silent.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, answered := range []bool{false, true} {
		c.answered.Store(answered)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		_, err = c.Topics(ctx)
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), "the caller's deadline passed before "+silent.Addr().String()+" answered") {
			t.Errorf("answered %v: %v", answered, err)
		}
		if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) || !Temporary(err) {
			t.Errorf("answered %v: the kind of %v has changed", answered, err)
		}
	}
}
