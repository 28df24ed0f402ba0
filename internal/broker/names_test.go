package broker

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topics have the names that Apache Kafka accepts. One request may create some and not others.
func TestNamesThatKafkaRefuses(t *testing.T) {
	b, err := Start(Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	create := func(want map[string]bool) {
		t.Helper()
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis = 60_000
		for name := range want {
			of := kmsg.NewCreateTopicsRequestTopic()
			of.Topic, of.NumPartitions, of.ReplicationFactor = name, 1, 1
			req.Topics = append(req.Topics, of)
		}
		resp, err := req.RequestWith(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range resp.Topics {
			code := int16(0)
			if !want[got.Topic] {
				code = kerr.InvalidTopicException.Code
			}
			if got.ErrorCode != code {
				t.Errorf("%.20q: error code %d, want %d", got.Topic, got.ErrorCode, code)
			}
		}
	}
	long := strings.Repeat("a", 249)
	create(map[string]bool{"a b": false, "ü": false, "a/b": false, ".": false, "..": false, long + "a": false, long: true, "a-b_C.9": true, "...": true})
	create(map[string]bool{"": false})
	create(map[string]bool{"later": true, "a b": false})
}
