package pipeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// wide returns n records with 20 inputs.
func wide(n int) []string {
	rng := rand.New(rand.NewPCG(5, 6))
	out := make([]string, n)
	for i := range out {
		var b bytes.Buffer
		b.WriteString(`{"features":{`)
		sum := 0.0
		for k := range 20 {
			x := rng.NormFloat64()
			if k < 4 {
				sum += x * x
			}
			fmt.Fprintf(&b, `"x%d":%.4f,`, k, x)
		}
		b.Truncate(b.Len() - 1)
		fmt.Fprintf(&b, `},"label":"%v"}`, sum > 4)
		out[i] = b.String()
	}
	return out
}

// BenchmarkPipeline learns records from a broker in the same process, the share of
// which a profile shows. records/s is by the learner's wall-clock time.
func BenchmarkPipeline(b *testing.B) {
	const n = 50_000
	c, in := kafkatest.Client(b), kafkatest.Name("wide")
	kafkatest.Fill(b, c, in, 1, wide(n))
	for i := 0; b.Loop(); i++ {
		cfg := model.Config{
			Model: fmt.Sprintf("m%d.%s", i, in), Client: c, Topics: []string{in},
			Learner:   learner.Config{MaxFeatures: 256}, // few, so that learning does not dominate
			BatchSize: 1000, Linger: time.Millisecond,
			SnapshotEvery: time.Hour, ReplayLimit: time.Hour, Keep: 3, History: 1 << 30,
			ToEnd: true, Report: func(event.Event) {},
		}
		l, err := Open(b.Context(), cfg)
		if err == nil {
			err = l.Run(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkHost measures what the host does with a BATCH of 1,000 records apart from
// learning: decoding records and encoding predictions.
func BenchmarkHost(b *testing.B) {
	values := wide(1000)
	records := make([]ingest.Record, len(values))
	for i, v := range values {
		records[i] = ingest.Record{Offset: int64(i), Time: 1_700_000_000_000, Key: []byte("key"), Value: []byte(v)}
	}
	cfg := model.Config{Learner: learner.Config{MaxFeatures: 32}}
	options, err := cfg.Options()
	if err != nil {
		b.Fatal(err)
	}
	h, err := history.New("m", options, cfg.Learner)
	if err != nil {
		b.Fatal(err)
	}
	d, err := history.NewDecider(cfg.Decode, cfg.Learner.Keyed(), h.Schema)
	if err != nil {
		b.Fatal(err)
	}
	in := &input.Partition{Topic: "wide"}
	b.ReportAllocs()
	b.Run("decide", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Decide([]input.Span{{In: in, To: 1000, Records: records}})
		}
	})
	b.Run("learn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h.Learn(1, [32]byte{}, d.Decide([]input.Span{{In: in, To: 1000, Records: records}}))
		}
	})
}

// historyOf returns a history that has learned n wide records.
func historyOf(tb testing.TB, c learner.Config, n int) *history.History {
	tb.Helper()
	cfg := model.Config{Learner: c}
	options, err := cfg.Options()
	if err != nil {
		tb.Fatal(err)
	}
	h, err := history.New("m", options, cfg.Learner)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := history.NewDecider(cfg.Decode, cfg.Learner.Keyed(), h.Schema)
	if err != nil {
		tb.Fatal(err)
	}
	records := make([]ingest.Record, n)
	for i, v := range wide(n) {
		records[i] = ingest.Record{Offset: int64(i), Value: []byte(v)}
	}
	h.Learn(1, [32]byte{}, d.Decide([]input.Span{{In: &input.Partition{Topic: "wide"}, To: int64(n), Records: records}}))
	return h
}

// BenchmarkFreeze measures how long learning waits while a snapshot is copied: newton
// with its default size and a full window of 20 inputs.
func BenchmarkFreeze(b *testing.B) {
	h := historyOf(b, learner.Config{}, 12_000) // enough for a step in each block
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Freeze(1); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFreezeCopiesOnce tests that freezing, for which learning waits, allocates
// little more than the size of the snapshot.
func TestFreezeCopiesOnce(t *testing.T) {
	h := historyOf(t, learner.Config{Kernel: "gaussian:1.5", MaxFeatures: 256}, 1400)
	if n := h.Learner.Progress().Features; n != 256 {
		t.Fatalf("%d features", n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := h.Freeze(1)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > s.Size()*5/4 {
		t.Errorf("freezing a snapshot of %d bytes takes %d bytes", s.Size(), took)
	}
}
