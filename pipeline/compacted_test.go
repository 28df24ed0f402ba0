package pipeline

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// configure sets properties of a topic.
func configure(t *testing.T, addr, topic string, properties map[string]string) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(addr, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	for k, v := range properties {
		e := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		e.Name, e.Op, e.Value = k, kmsg.IncrementalAlterConfigOpSet, &v
		res.Configs = append(res.Configs, e)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(t.Context(), c)
	if err != nil || resp.Resources[0].ErrorCode != 0 {
		t.Fatalf("%+v, %v", resp, err)
	}
}

// A model log that Apache Kafka has compacted, to the last record of each key, is
// refused even if its configuration was put back since.
func TestACompactedLogIsRefused(t *testing.T) {
	addr, in := kafkatest.NewReal(t).Addr, kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	log := model.LogTopic(cfg.Model)
	was := len(kafkatest.Read(t, c, log))

	configure(t, addr, log, map[string]string{
		"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.001", "min.compaction.lag.ms": "0",
	})
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "cleanup.policy is compact")
	note := func() { // an append begins a new segment, and only those before it are compacted
		r := ingest.Record{Time: time.Now().UnixMilli(), Key: []byte("note"), Value: []byte("{}")}
		if _, err := c.Producer().Append(t.Context(), log, 0, []ingest.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	since := time.Now()
	note()
	eventually(t, "the segment is old enough", func() bool { return time.Since(since) > 200*time.Millisecond })
	note()
	eventually(t, "the log is compacted", func() bool { return len(kafkatest.Read(t, c, log)) < was })
	configure(t, addr, log, map[string]string{"cleanup.policy": "delete"})

	_, err = Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "accrete")
	t.Logf("the learner: %v", err)
	_, err = audit.Verify(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "are missing")
	_, err = audit.Inspect(t.Context(), cfg, 1)
	learntest.Wants(t, err, ErrLog, "are missing")
}
