package pipeline

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Old records may be deleted between the request for the first offset of a topic and the first fetch:
// by the owner of the model, or by the retention of an output topic. Every reader then reads what is
// left.
func TestRecordsAreDeletedWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c, in := kafkatest.ClientOf(t, k.ListenAddrs()[0], nil), kafkatest.Name("rings")
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Transactional, cfg.History, cfg.Keep, cfg.Heartbeat = true, 1, 1, time.Minute
	values := learntest.Rings(400)
	for i := range 4 {
		kafkatest.Fill(t, c, in, 1, values[100*i:100*(i+1)])
		learnAll(t, cfg)
	}
	trimmed := map[string]bool{model.LogTopic(cfg.Model): true} // by the learner
	for _, topic := range []string{model.PredictionsTopic(cfg.Model), model.ReleasedTopic(cfg.Model), heartbeat.Topic(cfg.Model)} {
		end, err := c.End(t.Context(), topic, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteRecords(t.Context(), topic, 0, end-2); err != nil {
			t.Fatal(err)
		}
		trimmed[topic] = true
	}

	var at atomic.Int32 // the request that is answered with offsets that were deleted, counted down
	k.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		req := r.(*kmsg.ListOffsetsRequest)
		if len(req.Topics) != 1 || !trimmed[req.Topics[0].Topic] || req.Topics[0].Partitions[0].Timestamp != -2 || at.Add(-1) != 0 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		rt, rp := kmsg.NewListOffsetsResponseTopic(), kmsg.NewListOffsetsResponseTopicPartition()
		rp.Offset = 0
		rt.Topic, rt.Partitions = req.Topics[0].Topic, append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	learn := func() error {
		l, err := Open(t.Context(), cfg)
		if err == nil {
			err = l.Run(t.Context())
		}
		return err
	}
	for _, reader := range []struct {
		name string
		read func() error
	}{
		{"inspect", func() error { _, err := audit.Inspect(t.Context(), cfg, 0); return err }},
		{"verify", func() error { _, err := audit.Verify(t.Context(), cfg); return err }},
		{"rollback", func() error { _, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{}); return err }},
		{"learn", learn},
	} {
		for n := int32(1); ; n++ {
			at.Store(n)
			if err := reader.read(); err != nil {
				t.Errorf("%s, with answer %d of the first offset overtaken: %v", reader.name, n, err)
			}
			if at.Load() > 0 { // it has fewer
				t.Logf("%s: %d requests", reader.name, n-1)
				break
			}
		}
	}
}
