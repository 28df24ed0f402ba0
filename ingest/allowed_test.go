package ingest

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAllowedReadsTheClustersAnswer(t *testing.T) {
	for _, test := range []struct {
		operations int32
		want       Allowed
	}{
		{math.MinInt32, Allowed{}}, // not told
		{1 << 8, Allowed{Known: true}},
		{1<<8 | 1<<3, Allowed{Known: true, Read: true}},
		{1<<8 | 1<<4 | 1<<10, Allowed{Known: true, Write: true, DescribeConfigs: true}},
	} {
		c, err := New(Config{Brokers: []string{"simulated:1"}, Exchange: func(_ context.Context, req kmsg.Request) (kmsg.Response, bool, error) {
			m := req.(*kmsg.MetadataRequest)
			if !m.IncludeTopicAuthorizedOperations || m.AllowAutoTopicCreation {
				t.Errorf("request %+v", m)
			}
			resp := kmsg.NewPtrMetadataResponse()
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.AuthorizedOperations = m.Topics[0].Topic, test.operations
			resp.Topics = append(resp.Topics, topic)
			return resp, true, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Allowed(t.Context(), "t"); err != nil || got != test.want {
			t.Errorf("%b: %+v, %v, want %+v", test.operations, got, err, test.want)
		}
	}
}

// A broker without access control allows everything.
func TestAllowedOnBrokers(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		c, ctx := k.client(t), within(t, time.Minute)
		if got, err := c.Allowed(ctx, k.topic(t, "a", 1)); err != nil || got.Known && !(got.Read && got.Write && got.DescribeConfigs) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := c.Allowed(ctx, "absent"+k.tag); !errors.Is(err, ErrUnknownTopic) {
			t.Error(err)
		}
	})
}
