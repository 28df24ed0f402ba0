package ingest

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A durable topic with three replicas requires two of them in sync.
func TestDurableTopics(t *testing.T) {
	for brokers, want := range map[int]string{1: "1", 3: "2"} {
		var n kfake.VirtualNetwork
		kc, err := kfake.NewCluster(kfake.NumBrokers(brokers), kfake.ListenFn(manyPorts(&n)))
		if err != nil {
			t.Fatal(err)
		}
		defer kc.Close()
		k := cluster{Cluster: kc, net: &n, addrs: kc.ListenAddrs()}
		c, ctx := k.client(t), within(t, time.Minute)
		check := func(topic, want string) {
			t.Helper()
			if config, err := c.topicConfig(ctx, topic, "min.insync.replicas"); err != nil || config["min.insync.replicas"] != want {
				t.Errorf("%d brokers, %s: %v, %v, want %s", brokers, topic, config, err, want)
			}
		}
		if err := c.CreateDurable(ctx, "durable", 1, map[string]string{"retention.ms": "-1"}); err != nil {
			t.Fatal(err)
		}
		check("durable", want)
		if err := c.Create(ctx, "plain", 1, nil); err != nil {
			t.Fatal(err)
		}
		check("plain", "1")
		if err := c.CreateDurable(ctx, "plain", 1, nil); err != nil { // the existing topic is left unchanged
			t.Fatal(err)
		}
		check("plain", "1")
		if err := c.alter(ctx, "plain", map[string]string{"min.insync.replicas": "2"}); err != nil {
			t.Fatal(err)
		}
		check("plain", "2")
	}
}

// A property that an old broker does not know, or that the policy of a cluster forbids, is omitted.
func TestTopicsOfOtherBrokers(t *testing.T) {
	for _, code := range []int16{40, 44} {
		rejectLimits(t, code)
	}
}

// rejectLimits creates topics on a broker that answers with an error code to limits of timestamps.
func rejectLimits(t *testing.T, code int16) {
	k := newCluster(t)
	k.ControlKey(int16(kmsg.CreateTopics), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		req := r.(*kmsg.CreateTopicsRequest)
		for _, c := range req.Topics[0].Configs {
			if c.Name == BeforeMax || c.Name == AfterMax {
				resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
				rt := kmsg.NewCreateTopicsResponseTopic()
				rt.Topic, rt.ErrorCode = req.Topics[0].Topic, code
				resp.Topics = append(resp.Topics, rt)
				return resp, nil, true
			}
		}
		return nil, nil, false
	})
	c := k.client(t)
	for name, create := range map[string]func(string) error{
		"plain": func(n string) error {
			return c.Create(within(t, time.Minute), n, 1, map[string]string{BeforeMax: "1", AfterMax: "1"})
		},
		"durable": func(n string) error {
			return c.CreateDurable(within(t, time.Minute), n, 1, map[string]string{BeforeMax: "1", AfterMax: "1"})
		},
	} {
		if err := create(name); err != nil {
			t.Errorf("%s, error %d: %v", name, code, err)
		}
	}
}
