package pipeline

import (
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Records after the start of an open transaction cannot be read but count in the lag.
func TestLagReachesBehindAnOpenTransaction(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(150)
	kafkatest.Fill(t, c, in, 1, values[:100])
	tx := c.Transactor(kafkatest.Name("tx"), time.Minute)
	if err := tx.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	open := []ingest.Record{{Time: time.Now().UnixMilli(), Value: []byte(values[0])}}
	if _, err := tx.Write(t.Context(), in, 0, open); err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, c, in, 1, values[100:])
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	stop, _ := start(t, cfg)
	eventually(t, "it has read what it can", func() bool { l, ok := learntest.Last[event.Lag](ev); return ok && l.Next == 100 })
	if l, _ := learntest.Last[event.Lag](ev); l.Stable != 100 || l.End != 151 {
		t.Errorf("%+v, want a lag up to 151 and the stable offset at 100", l)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it reads on", func() bool {
		l, _ := learntest.Last[event.Lag](ev)
		return l.Next == 152 && l.Stable == 152 && l.End == 152
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// A learner that is paused has a lag, which grows: what was read ahead is not learned.
func TestLagOfAPausedLearner(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, slices.Repeat([]string{`{"other":"schema"}`}, 2000))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	has := func(next, end int64) func() bool {
		return func() bool {
			l, ok := learntest.Last[event.Lag](ev)
			return ok && l.Next == next && l.End == end
		}
	}
	check := func(what string, end int64) {
		t.Helper()
		eventually(t, what, func() bool { _, ok := learntest.Last[event.Paused](ev); return ok })
		p, _ := learntest.Last[event.Paused](ev)
		kafkatest.Fill(t, c, in, 1, slices.Repeat([]string{`{"other":"schema"}`}, 50))
		eventually(t, what+": a lag that has grown", has(p.Why.Bad, end))
		kafkatest.Fill(t, c, in, 1, slices.Repeat([]string{`{"other":"schema"}`}, 50))
		eventually(t, what+": a lag that has grown again", has(p.Why.Bad, end+50)) // there is no room to read ahead
	}
	stop, _ := start(t, cfg)
	check("it pauses", 2050)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	ev.Reset()
	stop, _ = start(t, cfg)
	check("it has paused after a restart", 2150)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}
