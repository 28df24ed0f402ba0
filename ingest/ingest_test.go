package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cluster is a test's own kfake on an in-memory network, or an external cluster.
type cluster struct {
	*kfake.Cluster
	net   *kfake.VirtualNetwork
	addrs []string
	tag   string // suffix of every name, so that tests do not share topics, groups or transactions
}

func newCluster(t testing.TB, opts ...kfake.Opt) cluster {
	t.Helper()
	var n kfake.VirtualNetwork
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(n.Listen)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return cluster{Cluster: c, net: &n, addrs: c.ListenAddrs()}
}

// onBrokers runs a test on kfake, and on the Kafka cluster at ACCRETE_TEST_BROKERS
// if that is set.
func onBrokers(t *testing.T, test func(t *testing.T, k cluster)) {
	t.Run("kfake", func(t *testing.T) { test(t, newCluster(t)) })
	if addrs := os.Getenv("ACCRETE_TEST_BROKERS"); addrs != "" {
		t.Run("kafka", func(t *testing.T) {
			test(t, cluster{addrs: strings.Split(addrs, ","), tag: fmt.Sprintf("-%x", rand.Uint64())})
		})
	}
}

// name returns the name of a topic, a group or a transaction.
func (k cluster) name(s string) string { return s + k.tag }

// topic creates a topic.
func (k cluster) topic(t testing.TB, s string, partitions int) string {
	t.Helper()
	if err := k.client(t).Create(within(t, time.Minute), k.name(s), partitions, nil); err != nil {
		t.Fatal(err)
	}
	return k.name(s)
}

func (k cluster) client(t testing.TB, edit ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{Brokers: k.addrs, MaxWait: 20 * time.Millisecond}
	if k.net != nil {
		cfg.DialContext = k.net.DialContext
	}
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

// foreign returns a client that shares no code with this package.
func (k cluster) foreign(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	opts = append(opts, kgo.SeedBrokers(k.addrs...))
	if k.net != nil {
		opts = append(opts, kgo.Dialer(k.net.DialContext))
	}
	c, err := kgo.NewClient(opts...)
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
		got, err := f.Poll(within(t, time.Minute), from)
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

// committed is readTopic until there are n records: a broker answers a commit before all readers
// see its records.
func committed(t testing.TB, c *Client, topic string, n int) (rs []Record) {
	t.Helper()
	for ctx := within(t, time.Minute); ctx.Err() == nil; {
		if rs, _ = readTopic(t, c, topic, 0); len(rs) >= n {
			break
		}
	}
	return rs
}

func show(rs []Record) (s []string) {
	for _, r := range rs {
		s = append(s, fmt.Sprintf("%d:%s", r.Offset, r.Value))
	}
	return s
}
