// Package kafkatest provides Kafka to tests: the embedded broker or, if
// ACCRETE_TEST_BROKERS is set, a real cluster.
package kafkatest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
)

// Addr returns the address of a Kafka that runs at least until the test ends.
func Addr(t testing.TB) string {
	t.Helper()
	addr := os.Getenv("ACCRETE_TEST_BROKERS")
	if addr == "" {
		b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		addr = b.Addr()
	}
	return addr
}

// Client connects to a Kafka that runs at least until the test ends.
func Client(t testing.TB) *ingest.Client { return ClientOf(t, Addr(t), nil) }

// ClientOf connects to the Kafka at addr, with a configuration that change may
// modify.
func ClientOf(t testing.TB, addr string, change func(*ingest.Config)) *ingest.Client {
	t.Helper()
	config := ingest.Config{Brokers: strings.Split(addr, ","), MaxWait: 20 * time.Millisecond}
	if change != nil {
		change(&config)
	}
	c, err := ingest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Delete deletes a topic, through a separate client.
func Delete(t testing.TB, addr, topic string) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(addr, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 10_000
	rt := kmsg.NewDeleteTopicsRequestTopic()
	rt.Topic = &topic
	req.TopicNames, req.Topics = []string{topic}, []kmsg.DeleteTopicsRequestTopic{rt}
	resp, err := req.RequestWith(t.Context(), c)
	if err == nil && resp.Topics[0].ErrorCode != 0 {
		err = fmt.Errorf("error %d", resp.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Name returns a name for a topic or a model that is unique to this test run.
func Name(base string) string { return fmt.Sprintf("%s-%x", base, rand.Uint32()) }

// Fill creates a topic if it does not exist, and writes the values round-robin
// to its partitions, with their index as key. The topic keeps its records, whatever their
// timestamps: brokers look for old ones every few seconds, and a test that takes that long
// would lose those that have none.
func Fill(t testing.TB, c *ingest.Client, topic string, partitions int, values []string) {
	t.Helper()
	retry(t, func() error { return c.Create(t.Context(), topic, partitions, map[string]string{"retention.ms": "-1"}) })
	byPartition := make([][]ingest.Record, partitions)
	now := time.Now().UnixMilli()
	for i, v := range values {
		p := i % partitions
		byPartition[p] = append(byPartition[p], ingest.Record{Time: now, Key: fmt.Append(nil, i), Value: []byte(v)})
	}
	out := c.Producer()
	for p, rs := range byPartition {
		if err := out.Publish(t.Context(), topic, p, rs); err != nil {
			t.Fatal(err)
		}
	}
}

// Read returns everything in a topic, partition by partition.
func Read(t testing.TB, c *ingest.Client, topic string) (rs []ingest.Record) {
	t.Helper()
	var first, end []int64
	retry(t, func() (err error) {
		first, end, err = c.Offsets(t.Context(), topic)
		return err
	})
	for p := range end {
		f := c.Fetcher(topic, p)
		for next := first[p]; next < end[p]; {
			retry(t, func() error {
				got, err := f.Poll(t.Context(), next)
				if err == nil {
					rs, next = append(rs, got.Records...), got.Next
				}
				return err
			})
		}
	}
	return rs
}

// retry calls f until it succeeds. The client may still have connections to a broker
// that the test has stopped.
func retry(t testing.TB, f func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := ingest.Retry(ctx, func(error) {}, f); err != nil {
		t.Fatal(err)
	}
}

// Header returns a header of a record, empty if it has none of that key.
func Header(r ingest.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// AddPartitions increases the number of partitions of a topic to count, through
// a separate client.
func AddPartitions(t testing.TB, addr, topic string, count int) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(addr, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = 10_000
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, int32(count)
	req.Topics = []kmsg.CreatePartitionsRequestTopic{rt}
	resp, err := req.RequestWith(t.Context(), c)
	if err == nil && resp.Topics[0].ErrorCode != 0 {
		err = fmt.Errorf("error %d", resp.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
