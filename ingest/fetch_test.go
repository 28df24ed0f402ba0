package ingest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// Records are read as they were written, by this package and by another client.
// Null is not the same as empty, and timestamps and headers are kept.
func TestRecordsKeepEverything(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t)
		want := []Record{
			{Time: 1_700_000_000_000, Key: nil, Value: nil},
			{Time: 1_699_999_999_999, Key: []byte{}, Value: []byte{}},
			{Time: 0, Key: []byte("k"), Value: []byte("v"), Headers: []Header{{"a", nil}, {"a", []byte{}}, {"", []byte("z")}}},
			{Time: 1_700_000_000_001, Value: []byte(strings.Repeat("long", 1000)), Headers: []Header{{"ce_id", []byte("t-0-3")}}},
		}
		if base, err := c.Producer().Append(within(t, time.Minute), topic, 0, want); base != 0 || err != nil {
			t.Fatalf("Append: %d, %v", base, err)
		}
		for i := range want {
			want[i].Offset = int64(i)
		}
		got, _ := readTopic(t, c, topic, 0)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("we read %+v, want %+v", got, want)
		}
		foreign := k.foreign(t, kgo.ConsumeTopics(topic))
		rs := foreign.PollFetches(within(t, time.Minute)).Records()
		if len(rs) != len(want) {
			t.Fatalf("the other client reads %d records", len(rs))
		}
		for i, r := range rs {
			w := want[i]
			if r.Offset != w.Offset || r.Timestamp.UnixMilli() != w.Time || string(r.Key) != string(w.Key) || (r.Key == nil) != (w.Key == nil) ||
				string(r.Value) != string(w.Value) || (r.Value == nil) != (w.Value == nil) || len(r.Headers) != len(w.Headers) {
				t.Errorf("the other client reads %+v, want %+v", r, w)
			}
		}
	})
}

// Every codec is compatible with another client, for reading and for writing.
func TestCodecs(t *testing.T) {
	for _, c := range []struct {
		codec Codec
		kgo   kgo.CompressionCodec
	}{{None, kgo.NoCompression()}, {Gzip, kgo.GzipCompression()}, {Snappy, kgo.SnappyCompression()}, {LZ4, kgo.Lz4Compression()}, {Zstd, kgo.ZstdCompression()}} {
		t.Run(c.codec.String(), func(t *testing.T) {
			onBrokers(t, func(t *testing.T, k cluster) {
				theirTopic, ourTopic := k.topic(t, "theirs", 1), k.topic(t, "ours", 1)
				client := k.client(t, func(cfg *Config) { cfg.Compression = c.codec })
				ctx := within(t, time.Minute)
				foreign := k.foreign(t, kgo.ProducerBatchCompression(c.kgo), kgo.ConsumeTopics(ourTopic))
				var rs []Record
				for i := range 500 {
					v := fmt.Sprintf("value %d %s", i, strings.Repeat("x", i%50))
					foreign.Produce(ctx, &kgo.Record{Topic: theirTopic, Value: []byte(v)}, nil)
					rs = append(rs, Record{Value: []byte(v)})
				}
				if err := foreign.Flush(ctx); err != nil {
					t.Fatal(err)
				}
				if err := client.Producer().Publish(ctx, ourTopic, 0, rs); err != nil {
					t.Fatal(err)
				}
				got, _ := readTopic(t, client, theirTopic, 0)
				again, _ := readTopic(t, client, ourTopic, 0)
				theirs := foreign.PollFetches(ctx).Records()
				if len(got) != 500 || len(again) != 500 || len(theirs) != 500 {
					t.Fatalf("%d, %d and %d records", len(got), len(again), len(theirs))
				}
				for i, r := range rs {
					if string(got[i].Value) != string(r.Value) || string(again[i].Value) != string(r.Value) || string(theirs[i].Value) != string(r.Value) {
						t.Fatalf("record %d is %q, %q, %q", i, got[i].Value, again[i].Value, theirs[i].Value)
					}
				}
			})
		})
	}
}

// Records of aborted transactions are dropped and those of committed ones kept,
// including where two transactions overlap and where reading starts inside one.
// Records of an open transaction are not read.
func TestReadCommitted(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t, func(cfg *Config) { cfg.MaxFetchBytes = 300 }) // several responses
		ctx := within(t, time.Minute)
		a := k.foreign(t, kgo.TransactionalID(k.name("a")), kgo.DefaultProduceTopic(topic))
		b := k.foreign(t, kgo.TransactionalID(k.name("b")), kgo.DefaultProduceTopic(topic))
		plain := k.foreign(t, kgo.DefaultProduceTopic(topic))
		put := func(cl *kgo.Client, v string) {
			t.Helper()
			if err := cl.ProduceSync(ctx, kgo.StringRecord(v)).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		end := func(cl *kgo.Client, commit kgo.TransactionEndTry) {
			t.Helper()
			if err := cl.EndTransaction(ctx, commit); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for round := range 6 {
			a.BeginTransaction()
			b.BeginTransaction()
			commitA, commitB := kgo.TransactionEndTry(round%2 == 0), kgo.TransactionEndTry(round%3 == 0)
			for i := range 3 {
				for _, w := range []struct {
					name string
					cl   *kgo.Client
					keep bool
				}{{"a", a, bool(commitA)}, {"b", b, bool(commitB)}, {"p", plain, true}} {
					v := fmt.Sprintf("%s%d.%d", w.name, round, i)
					put(w.cl, v)
					if w.keep {
						want = append(want, v)
					}
				}
			}
			end(b, commitB)
			put(a, fmt.Sprintf("a%d.late", round))
			if commitA {
				want = append(want, fmt.Sprintf("a%d.late", round))
			}
			end(a, commitA)
		}
		got, _ := readTopic(t, c, topic, 0)
		var values []string
		for _, r := range got {
			values = append(values, string(r.Value))
		}
		if !reflect.DeepEqual(values, want) {
			t.Errorf("read %v\nwant %v", values, want)
		}
		for from := range got[len(got)-1].Offset + 1 {
			var tail []Record
			for _, r := range got {
				if r.Offset >= from {
					tail = append(tail, r)
				}
			}
			if rs, _ := readTopic(t, c, topic, from); !reflect.DeepEqual(show(rs), show(tail)) {
				t.Fatalf("from %d: %v\nwant %v", from, show(rs), show(tail))
			}
		}

		_, end1, err := c.Offsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		a.BeginTransaction()
		put(a, "open")
		put(plain, "behind it")
		rs, last := readTopic(t, c, topic, end1[0])
		_, end2, err := c.Offsets(ctx, topic)
		if len(rs) != 0 || last.End != end1[0] || err != nil || end2[0] != end1[0] {
			t.Errorf("with a transaction open: %v, end %d and %d (%v), want nothing, end %d", show(rs), last.End, end2[0], err, end1[0])
		}
		end(a, kgo.TryCommit)
		if rs, _ := readTopic(t, c, topic, end1[0]); len(rs) != 2 {
			t.Errorf("after it: %v", show(rs))
		}
	})
}

// A deleted range is an error that names it, and so is an offset beyond the end of
// the partition.
func TestOutOfRange(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t)
		ctx := within(t, time.Minute)
		if err := c.Producer().Publish(ctx, topic, 0, values("a", "b", "c", "d")); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteRecords(ctx, topic, 0, 3); err != nil {
			t.Fatal(err)
		}
		f := c.Fetcher(topic, 0)
		_, err := f.Poll(ctx, 1)
		var lost *GapError
		if !errors.As(err, &lost) || lost.Want != 1 || lost.LogStart != 3 || Temporary(err) {
			t.Errorf("before the start: %v", err)
		}
		_, err = f.Poll(ctx, 5)
		var past *PastEnd
		if !errors.As(err, &past) || past.Want != 5 || past.End != 4 || Temporary(err) {
			t.Errorf("past the end: %v", err)
		}
		got, err := f.Poll(ctx, 4)
		if err != nil || len(got.Records) != 0 || got.Next != 4 || got.LogStart != 3 {
			t.Errorf("at the end: %+v, %v", got, err)
		}
		if rs, _ := readTopic(t, c, topic, 3); len(rs) != 1 || string(rs[0].Value) != "d" {
			t.Errorf("at the start: %v", show(rs))
		}
		if err := c.DeleteRecords(ctx, topic, 0, 9); err == nil {
			t.Error("records past the end could be deleted")
		}
	})
}

// A batch larger than MaxFetchBytes is returned.
func TestLargeBatchComes(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t, func(cfg *Config) { cfg.MaxFetchBytes = 100 })
		ctx := within(t, time.Minute)
		p := c.Producer()
		for range 3 {
			if _, err := p.Append(ctx, topic, 0, values(strings.Repeat("x", 500_000))); err != nil {
				t.Fatal(err)
			}
		}
		if rs, _ := readTopic(t, c, topic, 0); len(rs) != 3 || len(rs[2].Value) != 500_000 {
			t.Errorf("%d records", len(rs))
		}
	})
}

// A batch that the network damages is fetched again. One that stays damaged is an
// error, and none of its records is returned.
func TestDamage(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	ctx := within(t, time.Minute)
	if _, err := k.client(t).Producer().Append(ctx, "t", 0, values(strings.Repeat("x", 1000))); err != nil {
		t.Fatal(err)
	}
	for times, want := range map[int32]error{1: nil, 3: nil, 4: ErrCorrupt} {
		n := new(wire)
		n.onAnswer = func(key int16, b []byte) {
			if key == 1 && len(b) > 900 && n.count.Add(1) <= times {
				b[len(b)-100] ^= 4
			}
		}
		c := k.client(t, n.install(k))
		got, err := c.Fetcher("t", 0).Poll(ctx, 0)
		if !errors.Is(err, want) || (err == nil) != (len(got.Records) == 1) {
			t.Errorf("damaged %d times: %d records, %v; want %v", times, len(got.Records), err, want)
		}
		if err != nil && (Temporary(err) || !strings.Contains(err.Error(), "fetched 4 times") || !strings.Contains(err.Error(), "checksum of the batch at offset 0")) {
			t.Errorf("damaged %d times: %v", times, err)
		}
	}
}

// A fetch beyond a quota is answered without any partition. It is repeated after the time that the
// broker asks for, and what the log says names the quota.
func TestQuota(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	ctx := within(t, time.Minute)
	c := k.client(t)
	if _, err := c.Producer().Append(ctx, "t", 0, values("v")); err != nil {
		t.Fatal(err)
	}
	k.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		resp := r.ResponseKind().(*kmsg.FetchResponse)
		resp.ThrottleMillis = 50
		return resp, nil, true
	})
	began := time.Now()
	if _, err := c.Fetcher("t", 0).Poll(ctx, 0); !Temporary(err) || !strings.Contains(err.Error(), "quota") || time.Since(began) < 50*time.Millisecond {
		t.Errorf("after %v: %v, want a temporary error that names the quota, after 50ms", time.Since(began), err)
	}
	if got, err := c.Fetcher("t", 0).Poll(ctx, 0); err != nil || len(got.Records) != 1 {
		t.Errorf("repeated: %d records, %v", len(got.Records), err)
	}
	k.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		<-ctx.Done() // as a broker does not read from a connection that it throttles
		return nil, nil, false
	})
	if _, err := c.Topic(within(t, 50*time.Millisecond), "t"); !Temporary(err) || errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "quota") {
		t.Errorf("a request that is not answered in time: %v, want a temporary error that names the quota", err)
	}
}

// Reading follows a partition to another broker. Errors in the meantime are
// Temporary.
func TestLeaderMoves(t *testing.T) {
	t.Parallel()
	var n kfake.VirtualNetwork
	kc, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(1, "t"), kfake.ListenFn(manyPorts(&n)))
	if err != nil {
		t.Fatal(err)
	}
	defer kc.Close()
	k := cluster{Cluster: kc, net: &n, addrs: kc.ListenAddrs()}
	c := k.client(t)
	ctx := within(t, time.Minute)
	p, f := c.Producer(), c.Fetcher("t", 0)
	if err := c.Create(ctx, "spread", 9, nil); err != nil {
		t.Fatal(err)
	}
	for part := range 9 {
		if err := kc.MoveTopicPartition("spread", int32(part), int32(part%3)); err != nil {
			t.Fatal(err)
		}
		if err := p.Publish(ctx, "spread", part, make([]Record, part)); err != nil {
			t.Fatal(err)
		}
	}
	if first, end, err := c.Offsets(ctx, "spread"); err != nil || fmt.Sprint(first, end) != "[0 0 0 0 0 0 0 0 0] [0 1 2 3 4 5 6 7 8]" {
		t.Errorf("Offsets of partitions on three brokers: %v, %v, %v", first, end, err)
	}
	next := int64(0)
	for i := range 9 {
		if err := kc.MoveTopicPartition("t", 0, int32(i%3)); err != nil {
			t.Fatal(err)
		}
		if err := p.Publish(ctx, "t", 0, values(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		if err := kc.MoveTopicPartition("t", 0, int32((i+1)%3)); err != nil {
			t.Fatal(err)
		}
		for moved := 0; ; moved++ {
			got, err := f.Poll(ctx, next)
			if err == nil {
				if len(got.Records) != 1 || string(got.Records[0].Value) != fmt.Sprint(i) {
					t.Fatalf("read %v", show(got.Records))
				}
				next = got.Next
				break
			}
			if !Temporary(err) || moved > 3 {
				t.Fatalf("try %d: %v", moved, err)
			}
		}
	}
}

// The client continues without a broker that was removed from the cluster.
func TestBrokerLeaves(t *testing.T) {
	t.Parallel()
	var n kfake.VirtualNetwork
	kc, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(1, "t"), kfake.ListenFn(manyPorts(&n)))
	if err != nil {
		t.Fatal(err)
	}
	defer kc.Close()
	c := cluster{Cluster: kc, net: &n, addrs: kc.ListenAddrs()}.client(t)
	ctx := within(t, time.Minute)
	p, f := c.Producer(), c.Fetcher("t", 0)
	for i := range 3 {
		leader := kc.LeaderFor("t", 0)
		if i > 0 {
			if err := kc.RemoveNode(leader); err != nil {
				t.Fatal(err)
			}
			if left := kc.LeaderFor("t", 0); left == leader {
				t.Fatalf("broker %d left and leads", leader)
			}
		}
		for wait := new(Backoff); ; {
			if _, err = f.Poll(ctx, int64(i)); err == nil {
				break
			}
			if !Temporary(err) || wait.Pause(ctx, err) != nil {
				t.Fatalf("after broker %d left: %v", leader, err)
			}
		}
		if err := p.Publish(ctx, "t", 0, values(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := readTopic(t, c, "t", 0); fmt.Sprint(show(got)) != "[0:0 1:1 2:2]" {
		t.Errorf("stored %v", show(got))
	}
}

// Topic returns the properties of a topic, and the sentinel errors.
func TestTopics(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.name("t")
		c := k.client(t)
		ctx := within(t, time.Minute)
		if _, err := c.Topic(ctx, topic); !errors.Is(err, ErrUnknownTopic) || !Temporary(err) {
			t.Errorf("before it is made: %v", err)
		}
		if _, err := c.Fetcher(topic, 0).Poll(ctx, 0); !errors.Is(err, ErrUnknownTopic) {
			t.Errorf("poll before it is made: %v", err)
		}
		for range 2 { // the second time, the topic exists
			if err := c.Create(ctx, topic, 3, map[string]string{"cleanup.policy": "compact", "retention.ms": "-1"}); err != nil {
				t.Fatal(err)
			}
		}
		// In a cluster of several processes, a broker may learn of a new topic late.
		made := func(old [16]byte) (Topic, error) {
			for {
				topic, err := c.Topic(ctx, topic)
				if err == nil && topic.ID != old || !errors.Is(err, ErrUnknownTopic) && err != nil || ctx.Err() != nil {
					return topic, err
				}
			}
		}
		one, err := made([16]byte{})
		if err != nil || one.Name != topic || one.Partitions != 3 || one.CleanupPolicy != "compact" || one.ID == [16]byte{} {
			t.Errorf("%+v, %v", one, err)
		}
		if _, err := c.Fetcher(topic, 3).Poll(ctx, 0); !errors.Is(err, ErrUnknownTopic) {
			t.Errorf("a partition that is not there: %v", err)
		}
		// A topic that is created again has another id.
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = []string{topic}
		rt := kmsg.NewDeleteTopicsRequestTopic()
		rt.Topic = kmsg.StringPtr(topic)
		req.Topics = append(req.Topics, rt)
		if _, err := req.RequestWith(ctx, k.foreign(t)); err != nil {
			t.Fatal(err)
		}
		for known := true; known && ctx.Err() == nil; { // a broker may learn late that it is gone, and Create keeps what is there
			_, err := c.Topic(ctx, topic)
			known = !errors.Is(err, ErrUnknownTopic)
		}
		if err := c.Create(ctx, topic, 1, nil); err != nil {
			t.Fatal(err)
		}
		two, err := made(one.ID)
		if err != nil || two.ID == one.ID || two.Partitions != 1 || two.CleanupPolicy != "delete" {
			t.Errorf("created again: %+v, %v; it was %+v", two, err, one)
		}
	})
}

// Another client finds the committed positions.
func TestCommit(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 3)
		c := k.client(t)
		ctx := within(t, time.Minute)
		for _, o := range [][]int64{{5, -1, 7}, {6, 0, -1}} {
			if err := c.Member(k.name("g"), nil).Commit(ctx, map[string][]int64{topic: o}); err != nil {
				t.Fatal(err)
			}
		}
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = k.name("g")
		rt := kmsg.NewOffsetFetchRequestTopic()
		rt.Topic, rt.Partitions = topic, []int32{0, 1, 2}
		req.Topics = append(req.Topics, rt)
		resp, err := req.RequestWith(ctx, k.foreign(t))
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, p := range resp.Groups[0].Topics[0].Partitions {
			got = append(got, p.Offset)
		}
		if !reflect.DeepEqual(got, []int64{6, 0, 7}) {
			t.Errorf("committed %v, want [6 0 7]", got)
		}
		if got, err := c.Committed(ctx, k.name("g"), topic, 3); err != nil || !reflect.DeepEqual(got, []int64{6, 0, 7}) {
			t.Errorf("Committed says %v, %v; want [6 0 7]", got, err)
		}
		if got, err := c.Committed(ctx, k.name("nobody"), topic, 3); err != nil || !reflect.DeepEqual(got, []int64{-1, -1, -1}) {
			t.Errorf("Committed of a group that never was says %v, %v; want none", got, err)
		}
	})
}

// If no broker listens at the address, the error names the address.
func TestNobodyAnswers(t *testing.T) {
	c, err := New(Config{Brokers: []string{"127.0.0.1:1"}, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Topic(within(t, time.Minute), "t")
	if !errors.Is(err, ErrUnreachable) || !Temporary(err) || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "bootstrap.servers") {
		t.Errorf("%v", err)
	}
	_, err = c.Producer().Append(within(t, time.Minute), "t", 0, values("a"))
	if !errors.Is(err, ErrUnreachable) || errors.Is(err, ErrAmbiguous) {
		t.Errorf("Append: %v", err)
	}
}

// restartable returns a client of a broker that does not run, and what starts it with the records
// that it had.
func restartable(t *testing.T) (c *Client, start func() *kfake.Cluster) {
	t.Helper()
	n, dir := new(kfake.VirtualNetwork), t.TempDir()
	c, err := New(Config{Brokers: []string{"localhost:9092"}, DialContext: n.DialContext, MaxWait: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, func() *kfake.Cluster {
		kc, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.SeedTopics(1, "t"), kfake.DataDir(dir), kfake.ListenFn(n.Listen))
		if err != nil {
			t.Fatal(err)
		}
		return kc
	}
}

// A broker that starts late, or stops and starts again, is found.
func TestBrokerComesBack(t *testing.T) {
	t.Parallel()
	c, start := restartable(t)
	ctx := within(t, time.Minute)
	f, p := c.Fetcher("t", 0), c.Producer()
	if _, err := f.Poll(ctx, 0); !errors.Is(err, ErrUnreachable) {
		t.Fatalf("before: %v", err)
	}
	next := int64(0)
	for i := range 3 {
		kc := start()
		if err := p.Publish(ctx, "t", 0, values(fmt.Sprint(i))); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		for wait := new(Backoff); ; {
			got, err := f.Poll(ctx, next)
			if err == nil && len(got.Records) == 1 && string(got.Records[0].Value) == fmt.Sprint(i) {
				next = got.Next
				break
			}
			if err != nil && !Temporary(err) || wait.Pause(ctx, err) != nil {
				t.Fatalf("round %d: %v, %v", i, show(got.Records), err)
			}
		}
		kc.Close()
		if _, err := f.Poll(ctx, next); err == nil || !Temporary(err) {
			t.Errorf("while it is down: %v", err)
		}
	}
}

// A request that can be sent twice does not fail because the broker has been restarted
// since the last one, which has ended every connection that the client has.
func TestEndedConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	c, start := restartable(t)
	kc := start()
	defer func() { kc.Close() }()
	ctx, created := within(t, time.Minute), 0
	requests := map[string]func() error{
		"topic":     func() error { return second(c.Topic(ctx, "t")) },
		"topics":    func() error { return second(c.Topics(ctx)) },
		"offsets":   func() error { return third(c.Offsets(ctx, "t")) },
		"epoch":     func() error { return second(c.EndOfEpoch(ctx, "t", 0, 0)) },
		"committed": func() error { return second(c.Committed(ctx, "g", "t", 1)) },
		"delete":    func() error { return c.DeleteRecords(ctx, "t", 0, 0) },
		"create": func() error {
			created++
			return c.Create(ctx, fmt.Sprint("new", created), 1, nil)
		},
	}
	for name, request := range requests {
		if err := request(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kc.Close()
		kc = start()
		if err := request(); err != nil {
			t.Errorf("%s after the restart of the broker: %v", name, err)
		}
	}
	kc.Close()
	for name, request := range requests {
		if err := request(); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s without a broker: %v, want %v", name, err, ErrUnreachable)
		}
	}
}

// Close ends a waiting Poll. TestMain checks that no goroutine is left.
func TestCloseEndsPoll(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	waiting := make(chan struct{})
	k.ControlKey(1, func(kmsg.Request) (kmsg.Response, error, bool) {
		close(waiting)
		return nil, nil, false
	})
	c := k.client(t, func(cfg *Config) { cfg.MaxWait = time.Minute })
	done := make(chan error)
	go func() {
		_, err := c.Fetcher("t", 0).Poll(context.Background(), 0)
		done <- err
	}()
	<-waiting
	c.Close()
	if err := <-done; !errors.Is(err, ErrClosed) || Temporary(err) {
		t.Errorf("%v, want %v", err, ErrClosed)
	}
	if _, err := c.Topic(within(t, time.Second), "t"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Cancelling the context ends a Poll at once, and the client stays usable.
func TestCancelEndsPoll(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	c := k.client(t, func(cfg *Config) { cfg.MaxWait = time.Minute })
	ctx, cancel := context.WithCancel(context.Background())
	k.ControlKey(1, func(kmsg.Request) (kmsg.Response, error, bool) {
		cancel()
		return nil, nil, false
	})
	if _, err := c.Fetcher("t", 0).Poll(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if _, err := c.Topic(within(t, time.Minute), "t"); err != nil {
		t.Error(err)
	}
}

func TestDeniedTopic(t *testing.T) {
	k := newCluster(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.SeedTopics(1, "open", "secret"),
		kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("SCRAM-SHA-256", "ann", "pw",
			kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: "open", Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationAll, Allow: true}))
	as := func(s auth.Security) *Client {
		s.Protocol = "SASL_PLAINTEXT"
		return k.client(t, func(cfg *Config) { cfg.Security = s })
	}
	ann := as(auth.Security{Mechanism: "SCRAM-SHA-256", Username: "ann", Password: "pw"})
	ctx := within(t, time.Minute)
	if got, err := ann.Topic(ctx, "open"); err != nil || got.Partitions != 1 {
		t.Errorf("open: %+v, %v", got, err)
	}
	if err := ann.Producer().Publish(ctx, "open", 0, values("a")); err != nil {
		t.Errorf("open: %v", err)
	}
	for what, err := range map[string]error{
		"topic":   second(ann.Topic(ctx, "secret")),
		"poll":    second(ann.Fetcher("secret", 0).Poll(ctx, 0)),
		"append":  second(ann.Producer().Append(ctx, "secret", 0, values("a"))),
		"publish": ann.Producer().Publish(ctx, "secret", 0, values("a")),
		"create":  ann.Create(ctx, "new", 1, nil),
	} {
		if !errors.Is(err, ErrDenied) || Temporary(err) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, s := range []auth.Security{{Mechanism: "SCRAM-SHA-256", Username: "ann", Password: "hunter2"}, {Mechanism: "PLAIN", Username: "admin", Password: "hunter2"}} {
		// Apache Kafka responds with an error, and kfake closes the connection.
		_, err := as(s).Topic(ctx, "open")
		if err == nil || !strings.Contains(err.Error(), "sasl.password") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s with a wrong password: %v", s.Mechanism, err)
		}
	}
	if _, err := as(auth.Security{Mechanism: "PLAIN", Username: "admin", Password: "admin"}).Topic(ctx, "secret"); err != nil {
		t.Errorf("admin: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func TestTLS(t *testing.T) {
	server, ca := certificate(t)
	k := newCluster(t, kfake.TLS(server), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", "p"), kfake.SeedTopics(1, "t"))
	ctx := within(t, time.Minute)
	s := auth.Security{Protocol: "SASL_SSL", Mechanism: "SCRAM-SHA-512", Username: "u", Password: "p", CAFile: ca}
	if _, err := k.client(t, func(cfg *Config) { cfg.Security = s }).Topic(ctx, "t"); err != nil {
		t.Errorf("with the certificate: %v", err)
	}
	s.CAFile = ""
	if _, err := k.client(t, func(cfg *Config) { cfg.Security = s }).Topic(ctx, "t"); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "ssl.ca.location") {
		t.Errorf("without it: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, "bootstrap.servers is empty"},
		{Config{Brokers: []string{"a:b:c"}}, "bootstrap.servers"},
		{Config{Brokers: []string{":9092"}}, "bootstrap.servers"},
		{Config{Brokers: []string{"h"}, Security: auth.Security{Protocol: "TLS"}}, "security.protocol"},
		{Config{Brokers: []string{"h"}, Security: auth.Security{Username: "u"}}, "security.protocol is PLAINTEXT, which does not authenticate"},
		{Config{Brokers: []string{"h"}, Security: auth.Security{CAFile: "f"}}, "ssl.ca.location"},
		{Config{Brokers: []string{"h"}, Security: auth.Security{Protocol: "SSL", CAFile: "/none"}}, "ssl.ca.location"},
		{Config{Brokers: []string{"h"}, Security: auth.Security{Protocol: "SASL_SSL", Mechanism: "PLAIN"}}, "sasl.username"},
		{Config{Brokers: []string{"h"}, Security: auth.Security{Protocol: "SASL_SSL", Mechanism: "GSSAPI", Username: "u", Password: "p"}}, "sasl.mechanism"},
		{Config{Brokers: []string{"h"}, MaxFetchBytes: 1 << 30}, "max.partition.fetch.bytes"},
	} {
		if _, err := New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
}
