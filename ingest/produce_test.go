package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// cutOnce lets the wire fail at the n-th produce request.
func cutOnce(n int32, before, after bool) *wire {
	w := new(wire)
	w.cut = func(key int16) (bool, bool) {
		if key == 0 && w.count.Add(1) == n {
			return before, after
		}
		return false, false
	}
	return w
}

// Publish retries a batch with a lost acknowledgement under the same sequence
// numbers, and the batch is stored once.
func TestPublishStoresOnce(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		for n := int32(1); n <= 3; n++ {
			for _, after := range []bool{false, true} {
				topic := k.topic(t, fmt.Sprintf("t%d%v", n, after), 1)
				c := k.client(t, cutOnce(n, !after, after).install(k))
				p := c.Producer()
				ctx := within(t, time.Minute)
				var want []string
				for i := range 3 {
					if err := p.Publish(ctx, topic, 0, values(fmt.Sprint("a", i), fmt.Sprint("b", i))); err != nil {
						t.Fatal(err)
					}
					want = append(want, fmt.Sprintf("%d:a%d", 2*i, i), fmt.Sprintf("%d:b%d", 2*i+1, i))
				}
				if got, _ := readTopic(t, c, topic, 0); !reflect.DeepEqual(show(got), want) {
					t.Errorf("cut at request %d, sent: %v: stored %v", n, after, show(got))
				}
			}
		}
	})
}

// An Append with a lost acknowledgement is ambiguous and not retried, and the
// broker does not take the next one for a duplicate.
func TestAppendIsAmbiguous(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t, cutOnce(2, false, true).install(k))
		p := c.Producer()
		ctx := within(t, time.Minute)
		if base, err := p.Append(ctx, topic, 0, values("one")); base != 0 || err != nil {
			t.Fatalf("first: %d, %v", base, err)
		}
		if _, err := p.Append(ctx, topic, 0, values("two")); !errors.Is(err, ErrAmbiguous) {
			t.Fatalf("second: %v, want %v", err, ErrAmbiguous)
		}
		if base, err := p.Append(ctx, topic, 0, values("three")); base != 2 || err != nil {
			t.Errorf("third: %d, %v", base, err)
		}
		if got, _ := readTopic(t, c, topic, 0); !reflect.DeepEqual(show(got), []string{"0:one", "1:two", "2:three"}) {
			t.Errorf("stored %v", show(got))
		}
	})
}

// The broker's error code determines whether an Append was rejected or is
// ambiguous. After either, the producer can append again.
func TestAppendAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err       *kerr.Error
		ambiguous bool
		temporary bool
	}{
		{kerr.NotLeaderForPartition, false, true},
		{kerr.NotEnoughReplicas, false, true},
		{kerr.UnknownTopicOrPartition, false, true},
		{kerr.MessageTooLarge, false, false},
		{kerr.InvalidRecord, false, false},
		{kerr.TopicAuthorizationFailed, false, false},
		{kerr.OutOfOrderSequenceNumber, false, true},
		{kerr.UnknownProducerID, false, true},
		{kerr.InvalidProducerEpoch, false, true},
		{kerr.NotEnoughReplicasAfterAppend, true, true},
		{kerr.RequestTimedOut, true, true},
		{kerr.DuplicateSequenceNumber, true, false},
		{kerr.UnknownServerError, true, true},
	} {
		k := newCluster(t, kfake.SeedTopics(1, "t"))
		client := k.client(t)
		p := client.Producer()
		ctx := within(t, time.Minute)
		if _, err := p.Append(ctx, "t", 0, values("one")); err != nil {
			t.Fatal(err)
		}
		k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: c.err})
		_, err := p.Append(ctx, "t", 0, values("two"))
		if err == nil || errors.Is(err, ErrAmbiguous) != c.ambiguous || Temporary(err) != c.temporary {
			t.Errorf("%s: %v; ambiguous %v, want %v; temporary %v, want %v", c.err.Message, err, errors.Is(err, ErrAmbiguous), c.ambiguous, Temporary(err), c.temporary)
		}
		if _, err := p.Append(ctx, "t", 0, values("three")); err != nil {
			t.Errorf("after %s: %v", c.err.Message, err)
		}
		got, _ := readTopic(t, client, "t", 0)
		if last := got[len(got)-1]; string(last.Value) != "three" || len(got) > 3 || !c.ambiguous && len(got) != 2 {
			t.Errorf("after %s: stored %v", c.err.Message, show(got))
		}
	}
}

// Publish retries after every temporary error of a broker, and stores each record
// once.
func TestPublishGoesOn(t *testing.T) {
	for _, e := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut, kerr.LeaderNotAvailable,
		kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.UnknownServerError, kerr.UnknownTopicOrPartition} {
		t.Run(e.Message, func(t *testing.T) {
			t.Parallel()
			k := newCluster(t, kfake.SeedTopics(1, "t"))
			client := k.client(t)
			p := client.Producer()
			ctx := within(t, time.Minute)
			if err := p.Publish(ctx, "t", 0, values("one")); err != nil {
				t.Fatal(err)
			}
			k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: e, Count: 2})
			if err := p.Publish(ctx, "t", 0, values("two")); err != nil {
				t.Errorf("%s: %v", e.Message, err)
			}
			if err := p.Publish(ctx, "t", 0, values("three")); err != nil {
				t.Errorf("after %s: %v", e.Message, err)
			}
			if got, _ := readTopic(t, client, "t", 0); !reflect.DeepEqual(show(got), []string{"0:one", "1:two", "2:three"}) {
				t.Errorf("%s: stored %v", e.Message, show(got))
			}
		})
	}
}

// Publish stops if a retry cannot succeed or the context ends.
func TestPublishStops(t *testing.T) {
	t.Parallel()
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	p := k.client(t).Producer()
	k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
	if err := p.Publish(within(t, time.Minute), "t", 0, values("a")); !errors.Is(err, ErrDenied) {
		t.Errorf("%v, want %v", err, ErrDenied)
	}
	k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord})
	if err := p.Publish(within(t, time.Minute), "t", 0, values("a")); !errors.Is(err, ErrRejected) {
		t.Errorf("%v, want %v", err, ErrRejected)
	}
	ctx, cancel := context.WithCancel(context.Background())
	fault := k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: -1, When: func(kmsg.Request) bool { cancel(); return true }})
	if err := p.Publish(ctx, "t", 0, values("b")); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("cancelled: %v, want %v", err, ErrAmbiguous)
	}
	fault.Remove()
	if err := p.Publish(within(t, time.Minute), "t", 0, values("c")); err != nil {
		t.Error(err)
	}
	if got, _ := readTopic(t, k.client(t), "t", 0); !reflect.DeepEqual(show(got), []string{"0:b", "1:c"}) {
		t.Errorf("stored %v", show(got))
	}
}

// Batches keep to the configured size, and to the topic's limit if that is smaller.
// A record that is too large by itself is an error.
func TestPublishCuts(t *testing.T) {
	k := newCluster(t)
	c := k.client(t, func(cfg *Config) { cfg.MaxBatchBytes = 10_000 })
	ctx := within(t, time.Minute)
	if err := c.Create(ctx, "t", 1, map[string]string{"max.message.bytes": "5000"}); err != nil {
		t.Fatal(err)
	}
	var largest atomic.Int64
	k.ControlKey(0, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		largest.Store(max(largest.Load(), int64(len(r.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records))))
		return nil, nil, false
	})
	var rs []Record
	for i := range 100 {
		rs = append(rs, Record{Value: []byte(fmt.Sprint(i, strings.Repeat("x", i*20)))})
	}
	p := c.Producer()
	if err := p.Publish(ctx, "t", 0, rs); err != nil {
		t.Fatal(err)
	}
	got, _ := readTopic(t, c, "t", 0)
	if len(got) != 100 || largest.Load() > 10_000 {
		t.Fatalf("%d records, a batch of %d bytes", len(got), largest.Load())
	}
	for i := range got {
		if string(got[i].Value) != string(rs[i].Value) {
			t.Fatalf("record %d is another one", i)
		}
	}
	if err := p.Publish(ctx, "t", 0, []Record{{Value: make([]byte, 6000)}}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "max.message.bytes") {
		t.Errorf("%v, want %v", err, ErrTooLarge)
	}
}

// Sequence numbers wrap from 2³¹-1 to 0, as in DefaultRecordBatch.incrementSequence
// of Apache Kafka.
func TestSequenceWraps(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t)
		p := c.Producer()
		ctx := within(t, time.Minute)
		if err := p.Publish(ctx, topic, 0, values("first")); err != nil {
			t.Fatal(err)
		}
		for _, w := range []struct {
			from int32
			n    int
			want int32
		}{{0, 1, 1}, {math.MaxInt32 - 1, 1, math.MaxInt32}, {math.MaxInt32, 1, 0}, {math.MaxInt32 - 1, 3, 1}} {
			p.next[partition{topic, 0}] = w.from
			if p.advance(topic, 0, w.n); p.next[partition{topic, 0}] != w.want {
				t.Errorf("%d and %d more: %d, want %d", w.from, w.n, p.next[partition{topic, 0}], w.want)
			}
		}
		// A new producer may begin at any number if the partition has records. kfake
		// wraps one too early, from which Publish recovers too.
		p.restart()
		if err := p.begin(ctx); err != nil {
			t.Fatal(err)
		}
		p.next[partition{topic, 0}] = math.MaxInt32 - 1
		for i := range 3 {
			if err := p.Publish(ctx, topic, 0, values(fmt.Sprint("a", i), fmt.Sprint("b", i))); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := readTopic(t, c, topic, 0); !reflect.DeepEqual(show(got), []string{"0:first", "1:a0", "2:b0", "3:a1", "4:b1", "5:a2", "6:b2"}) {
			t.Errorf("stored %v", show(got))
		}
	})
}

// Each partition of a producer has its own sequence numbers.
func TestPartitionsAreApart(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		one, two := k.topic(t, "t", 2), k.topic(t, "u", 2)
		p := k.client(t).Producer()
		ctx := within(t, time.Minute)
		for i := range 6 {
			topic := map[int]string{0: one, 1: two}[i%2]
			for part := range 2 {
				var base int64
				err := Retry(ctx, func(error) {}, func() (err error) { // a new topic of Apache Kafka may have no leader yet
					base, err = p.Append(ctx, topic, part, values("a", "b"))
					return err
				})
				if err != nil || base != int64(i/2*2) {
					t.Fatalf("%s %d: %d, %v", topic, part, base, err)
				}
			}
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	k := newCluster(b, kfake.SeedTopics(1, "t"), kfake.BlackholeProduce())
	p := k.client(b).Producer()
	rs := make([]Record, 1000)
	for i := range rs {
		rs[i] = Record{Value: []byte(strings.Repeat("v", 200)), Key: []byte("key"), Headers: []Header{{"ce_id", []byte("t-0-1234")}, {"ce_type", []byte("prediction")}}}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Publish(context.Background(), "t", 0, rs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}
