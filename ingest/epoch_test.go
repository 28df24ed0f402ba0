package ingest

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The leader returns the exact end of an epoch, and does not know one that does not
// exist.
func TestEndOfEpoch(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := k.topic(t, "t", 1)
		c := k.client(t)
		ctx := within(t, time.Minute)
		if _, err := c.Producer().Append(ctx, topic, 0, values("a", "b", "c")); err != nil {
			t.Fatal(err)
		}
		got, err := c.Fetcher(topic, 0).Poll(ctx, 0)
		if err != nil || got.Next != 3 || got.Epoch < 0 || got.Leader != got.Epoch || got.HighWatermark != 3 {
			t.Fatalf("%+v, %v", got, err)
		}
		if at, err := c.EndOfEpoch(ctx, topic, 0, got.Epoch); err != nil || at != (EpochEnd{got.Epoch, 3}) {
			t.Errorf("%+v, %v", at, err)
		}
		for next, want := range map[int64]bool{2: false, 3: false, 4: true} {
			end, truncated, known, err := c.Truncated(ctx, topic, 0, next, got.Epoch)
			if err != nil || !known || truncated != want || end != min(next, 3) {
				t.Errorf("truncated before %d: end %d, %v, known %v, %v", next, end, truncated, known, err)
			}
		}
		if _, _, known, err := c.Truncated(ctx, topic, 0, 3, got.Epoch+7); known || err != nil {
			t.Errorf("of an epoch that nobody knows: %v, %v", known, err)
		}
	})
}

// The first Poll after a change of the leader returns a temporary error and no
// records.
func TestLeaderEpochIsNoticed(t *testing.T) {
	var n kfake.VirtualNetwork
	kc, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.ListenFn(manyPorts(&n)))
	if err != nil {
		t.Fatal(err)
	}
	defer kc.Close()
	k := cluster{Cluster: kc, net: &n, addrs: kc.ListenAddrs()}
	topic := k.topic(t, "t", 1)
	c := k.client(t)
	ctx := within(t, time.Minute)
	p, f := c.Producer(), c.Fetcher(topic, 0)
	if _, err := p.Append(ctx, topic, 0, values("a", "b")); err != nil {
		t.Fatal(err)
	}
	before, err := f.Poll(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	id := k.LeaderFor(topic, 0)
	for _, to := range []int32{1 - id, id} { // so that the first broker leads again, with another epoch
		if err := k.MoveTopicPartition(topic, 0, to); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Poll(ctx, 2); !Temporary(err) || !moved(err) {
		t.Errorf("the first Poll: %v", err)
	}
	if _, err := p.Append(ctx, topic, 0, values("c")); err != nil {
		t.Fatal(err)
	}
	after, err := f.Poll(ctx, 2)
	if err != nil || after.Next != 3 || after.Leader != before.Leader+2 || after.Epoch != after.Leader {
		t.Errorf("the second: %+v, %v", after, err)
	}
	if at, err := c.EndOfEpoch(ctx, topic, 0, before.Epoch); err != nil || at != (EpochEnd{before.Epoch, 2}) {
		t.Errorf("the end of the first epoch: %+v, %v", at, err)
	}
	if end, truncated, known, err := c.Truncated(ctx, topic, 0, 3, before.Epoch); end != 2 || !truncated || !known || err != nil {
		t.Errorf("%d, %v, %v, %v", end, truncated, known, err)
	}
}

func TestEpochsOfAnOldBroker(t *testing.T) {
	k := newCluster(t)
	topic := k.topic(t, "t", 1)
	k.ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
		for _, key := range []int16{0, 1, 2, 3, 18, 22} {
			v := kmsg.NewApiVersionsResponseApiKey()
			v.ApiKey, v.MaxVersion = key, min(4, kmsg.RequestForKey(key).MaxVersion())
			resp.ApiKeys = append(resp.ApiKeys, v)
		}
		return resp, nil, true
	})
	c := k.client(t)
	if _, err := c.EndOfEpoch(within(t, time.Minute), topic, 0, 1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if _, _, known, err := c.Truncated(within(t, time.Minute), topic, 0, 5, 1); known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}
