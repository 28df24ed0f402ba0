package pipeline

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// While the predictions topic accepts no records, learning stops after a few BATCHes,
// reading stops too, memory does not grow, and nothing is lost.
func TestStalledOutputHoldsTheLearnerBack(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	var stalled atomic.Bool
	var refusals, fetched atomic.Int64
	stalled.Store(true)
	const notEnoughReplicas = 19
	k.ControlKey(0, func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		p := req.(*kmsg.ProduceRequest)
		if !stalled.Load() || !strings.HasSuffix(p.Topics[0].Topic, ".predictions") {
			return nil, nil, false
		}
		refusals.Add(1)
		resp := p.ResponseKind().(*kmsg.ProduceResponse)
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic = p.Topics[0].Topic
		rp := kmsg.NewProduceResponseTopicPartition()
		rp.Partition, rp.ErrorCode = p.Topics[0].Partitions[0].Partition, notEnoughReplicas
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	const fetchBytes = 64 << 10
	c := kafkatest.ClientOf(t, k.ListenAddrs()[0], func(c *ingest.Config) { c.MaxFetchBytes, c.MaxBatchBytes = fetchBytes, fetchBytes })
	in := kafkatest.Name("wide")
	values := wide(30_000) // 8 MB
	kafkatest.Fill(t, c, in, 1, values)
	k.ControlKey(1, func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if f := req.(*kmsg.FetchRequest); len(f.Topics) == 1 && f.Topics[0].Topic == in {
			fetched.Store(f.Topics[0].Partitions[0].FetchOffset)
		}
		return nil, nil, false
	})

	cfg, ev := learntest.Config(c, "m", in)
	cfg.BatchSize, cfg.ToEnd = 100, false
	cfg.Learner.Algorithm, cfg.Learner.MaxFeatures = "dsg", 64 // cheap, because what is learned does not matter
	stop, _ := start(t, cfg)
	eventually(t, "the topic is tried again and again", func() bool { return refusals.Load() >= 5 })
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // that of the program
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var l event.Learned
	var ahead, n int64
	for settled := false; !settled; {
		l, _ = learntest.Last[event.Learned](ev)
		ahead, n = fetched.Load(), refusals.Load()
		eventually(t, "some time passes", func() bool { return refusals.Load() >= n+10 })
		l2, _ := learntest.Last[event.Learned](ev)
		settled = l.Seq > 1 && l2.Seq == l.Seq && fetched.Load() == ahead
	}
	before, n := heap(), refusals.Load()
	// What is being written is up to a full queue and one more, another queue waits, and one is
	// learned.
	const most = 2*memory.Waiting + 2
	if l.Seq == 0 || l.Seq > most {
		t.Errorf("%d BATCHes were learned, want at most %d", l.Seq, most)
	}
	if limit := int64((most + 2) * cfg.BatchSize); ahead > limit+3*fetchBytes/200 {
		t.Errorf("reading has come to record %d, and only %d are under way", ahead, limit)
	}
	eventually(t, "some time passes", func() bool { return refusals.Load() >= n+20 })
	if after := heap(); after > before+(1<<20) {
		t.Errorf("the heap has grown from %d to %d bytes while nothing moved", before, after)
	}
	if l2, _ := learntest.Last[event.Learned](ev); l2.Seq > most || fetched.Load() != ahead {
		t.Errorf("it has gone on: BATCH %d, record %d, before %d and %d", l2.Seq, fetched.Load(), l.Seq, ahead)
	}
	stalled.Store(false)
	eventually(t, "all is learned", func() bool { return learned(ev) == int64(len(values)) })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))); got != len(values) {
		t.Errorf("%d predictions of %d records", got, len(values))
	}
}

// The memory of a running learner stays below the limit of the formula.
func TestMemoryStaysBelowTheFormula(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Dir: t.TempDir()}) // keeps its records on disk
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	c, in := kafkatest.ClientOf(t, b.Addr(), nil), kafkatest.Name("wide")
	kafkatest.Fill(t, c, in, 1, wide(20_000))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.BatchSize, cfg.SnapshotEvery, cfg.Learner = 1000, 20*time.Millisecond, learntest.Newton
	cfg.Learner.MaxFeatures = 512
	var before, peak runtime.MemStats
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // that of the program
	runtime.GC()
	runtime.ReadMemStats(&before)
	highest := uint64(0)
	cfg.Report = func(e event.Event) {
		ev.Add(e)
		if _, ok := e.(event.Learned); ok {
			runtime.ReadMemStats(&peak)
			highest = max(highest, peak.HeapInuse)
		}
	}
	learnAll(t, cfg)
	m, ok := learntest.Last[event.Memory](ev)
	if !ok || m.Limit < memory.Base {
		t.Fatalf("no limit was reported: %+v", m)
	}
	// The broker runs in the same process, so its memory counts too.
	if took := int64(highest) - int64(before.HeapInuse); took > m.Limit {
		t.Errorf("the heap grew by %d bytes, the formula says %d", took, m.Limit)
	}
}
