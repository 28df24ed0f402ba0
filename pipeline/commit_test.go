package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// readCommitted reads topics with another client library, at isolation level
// read_committed.
func readCommitted(t *testing.T, addr string, topics ...string) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(addr, ",")...), kgo.ConsumeTopics(topics...),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(50*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A read-committed consumer gets the prediction of each record exactly once, and each
// bad record exactly once in quarantine, however often the learner crashes.
func TestTransactionalDeliveryOverCrashes(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	feeder := kafkatest.ClientOf(t, addr, nil)
	crashes, each := 30, 100
	if testing.Short() {
		crashes = 8
	}
	values := learntest.Rings(each * (crashes + 1))
	for i := 33; i < len(values); i += 97 {
		values[i] = "{"
	}
	rng := rand.New(rand.NewPCG(1, 2))
	kafkatest.Fill(t, feeder, in, 2, values[:each])

	var name string
	replayed, unfinished := 0, 0
	for i := range crashes {
		c := kafkatest.ClientOf(t, addr, nil)
		cfg, ev := learntest.Config(c, "m", in)
		name = cfg.Model
		cfg.BatchSize, cfg.Transactional, cfg.ToEnd, cfg.SnapshotEvery = 10, true, false, 50*time.Millisecond
		learn := int64(rng.IntN(3)) // BATCHes
		cfg.Report = func(e event.Event) {
			ev.Add(e)
			switch e.(type) { // a closed client stands for a dead process
			case event.Learned:
				if learn--; i%3 == 0 && learn < 0 {
					c.Close()
				}
			case event.Published:
				if i%3 == 1 {
					c.Close()
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			l, err := Open(ctx, cfg)
			if err == nil {
				err = l.Run(ctx)
			}
			done <- err
		}()
		if i%3 == 2 {
			eventually(t, "it claims", func() bool { _, ok := learntest.Last[event.Claimed](ev); return ok })
			time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
			c.Close()
		}
		if err := <-done; err == nil {
			t.Fatal("the learner did not crash")
		}
		cancel()
		if r, ok := learntest.Last[event.Replayed](ev); ok && r.Released > 0 {
			replayed++
		}
		if l, ok := learntest.Last[event.Learned](ev); ok {
			if r, _ := learntest.Last[event.Published](ev); r.Seq < l.Seq {
				unfinished++
			}
		}
		kafkatest.Fill(t, feeder, in, 2, values[each*(i+1):each*(i+2)])
	}
	cfg, _ := learntest.Config(feeder, "m", in)
	cfg.BatchSize, cfg.Transactional = 10, true
	learnAll(t, cfg)
	if replayed == 0 || unfinished == 0 {
		t.Errorf("of %d crashes %d were before a release and %d restarts had something to release: the test does not test", crashes, unfinished, replayed)
	}

	// A last record in each partition marks its end.
	for topic, partitions := range map[string]int{model.PredictionsTopic(name): 2, model.QuarantineTopic(name): 1} {
		for p := range partitions {
			if err := feeder.Producer().Publish(t.Context(), topic, p, []ingest.Record{{Time: time.Now().UnixMilli(), Key: []byte("end")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen, ends := map[string]int{}, 0
	consumer := readCommitted(t, addr, model.PredictionsTopic(name), model.QuarantineTopic(name))
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ends < 3 && patience.Err() == nil {
		consumer.PollFetches(patience).EachRecord(func(r *kgo.Record) {
			if string(r.Key) == "end" {
				ends++
				return
			}
			h := map[string]string{}
			for _, x := range r.Headers {
				h[x.Key] = string(x.Value)
			}
			id := h["ce_id"]
			if id == "" {
				id = fmt.Sprintf("%s-%s-%s", h["__connect.errors.topic"], h["__connect.errors.partition"], h["__connect.errors.offset"])
			}
			seen[id]++
		})
	}
	twice := 0
	for _, n := range seen {
		if n > 1 {
			twice++
		}
	}
	if len(seen) != len(values) || twice > 0 {
		t.Errorf("of %d records %d are answered, %d of them more than once", len(values), len(seen), twice)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// If the outputs show an earlier model, an empty log begins a new model only with
// NewModel, and no seq is used twice.
func TestANewModelBesideOldOutputs(t *testing.T) {
	for _, transactional := range []bool{false, true} {
		addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
		c := kafkatest.ClientOf(t, addr, nil)
		kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
		cfg, ev := learntest.Config(c, "m", in)
		cfg.Transactional, cfg.BatchSize = transactional, 50
		learnAll(t, cfg)
		before := finalSeq(t, ev)
		kafkatest.Delete(t, addr, model.LogTopic(cfg.Model))
		eventually(t, "the log is gone", func() bool { _, err := c.Topic(t.Context(), model.LogTopic(cfg.Model)); return err != nil })
		_, err := Open(t.Context(), cfg)
		learntest.Wants(t, err, ErrLog, "--new-model")
		cfg.NewModel = true
		learnAll(t, cfg)
		learnAll(t, cfg) // the model is no longer new
		if after := finalSeq(t, ev); after != 2*before {
			t.Errorf("transactional %v: the last seq is %d, of the model before %d", transactional, after, before)
		}
		if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared != 1 || v.FromSeq != before+1 {
			t.Errorf("transactional %v: verify: %+v, %v", transactional, v, err)
		}
	}
}

// finalSeq returns the seq of the last snapshot.
func finalSeq(t *testing.T, ev *learntest.Events) int64 {
	t.Helper()
	s, ok := learntest.Last[event.Saved](ev)
	if !ok {
		t.Fatal("no snapshot was saved")
	}
	return s.Seq
}
