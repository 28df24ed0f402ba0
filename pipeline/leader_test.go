package pipeline

import (
	"sync/atomic"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Directly after its restart, a broker may not know yet that it leads a partition. Every
// reader waits until it does.
func TestReadersWaitForALeader(t *testing.T) {
	t.Parallel()
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c, in := kafkatest.ClientOf(t, k.ListenAddrs()[0], nil), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)

	var at atomic.Int32 // the request that is refused, counted down
	k.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if at.Add(-1) != 0 {
			return nil, nil, false
		}
		req := r.(*kmsg.ListOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, rt := range req.Topics {
			t := kmsg.NewListOffsetsResponseTopic()
			t.Topic = rt.Topic
			for _, rp := range rt.Partitions {
				p := kmsg.NewListOffsetsResponseTopicPartition()
				p.Partition, p.ErrorCode = rp.Partition, int16(kafka.NotLeaderForPartition)
				t.Partitions = append(t.Partitions, p)
			}
			resp.Topics = append(resp.Topics, t)
		}
		return resp, nil, true
	})
	readers := map[string]func() error{
		"inspect": func() error { _, err := audit.Inspect(t.Context(), cfg, 0); return err },
		"verify":  func() error { _, err := audit.Verify(t.Context(), cfg); return err },
		"adopt":   func() error { _, err := admin.Adopt(t.Context(), cfg, admin.Adoption{}); return err },
		"learn": func() error {
			l, err := Open(t.Context(), cfg)
			if err == nil {
				err = l.Run(t.Context())
			}
			return err
		},
	}
	for name, read := range readers {
		for n := int32(1); ; n++ {
			at.Store(n)
			if err := read(); err != nil {
				t.Errorf("%s, with its request %d for offsets refused: %v", name, n, err)
			}
			if at.Load() > 0 { // it has fewer
				t.Logf("%s: %d requests", name, n-1)
				break
			}
		}
	}
}
