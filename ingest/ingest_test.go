package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cluster of one test, on a network in memory.
type cluster struct {
	*kfake.Cluster
	net *kfake.VirtualNetwork
}

func newCluster(t testing.TB, opts ...kfake.Opt) cluster {
	t.Helper()
	var n kfake.VirtualNetwork
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(n.Listen)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return cluster{c, &n}
}

func (k cluster) client(t testing.TB, edit ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{Brokers: k.ListenAddrs(), DialContext: k.net.DialContext, MaxWait: 20 * time.Millisecond}
	for _, e := range edit {
		e(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// foreign is a client that shares no code with ours.
func (k cluster) foreign(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(k.ListenAddrs()...), kgo.Dialer(k.net.DialContext)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func values(vs ...string) []Record {
	rs := make([]Record, len(vs))
	for i, v := range vs {
		rs[i] = Record{Time: int64(1000 + i), Value: []byte(v)}
	}
	return rs
}

// readTopic polls a partition from an offset up to its end.
func readTopic(t testing.TB, c *Client, topic string, from int64) (rs []Record, last Fetched) {
	t.Helper()
	f := c.Fetcher(topic, 0)
	for {
		got, err := f.Poll(within(t, 10*time.Second), from)
		if err != nil {
			t.Fatalf("Poll(%d): %v", from, err)
		}
		rs = append(rs, got.Records...)
		if got.Next == from {
			return rs, got
		}
		from = got.Next
	}
}

func show(rs []Record) (s []string) {
	for _, r := range rs {
		s = append(s, fmt.Sprintf("%d:%s", r.Offset, r.Value))
	}
	return s
}
