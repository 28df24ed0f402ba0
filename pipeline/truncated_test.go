package pipeline

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A learner notices that a broker has lost records in a restart, even if other records
// have taken their offsets before it reads again.
func TestTruncatedAndRegrownInputIsNoticed(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		for _, regrown := range []int{0, 20, 300} {
			t.Run(fmt.Sprint(regrown), func(t *testing.T) {
				c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
				values := learntest.Rings(1000)
				for i := range 5 { // batches of 100
					kafkatest.Fill(t, c, in, 1, values[100*i:100*i+100])
				}
				cfg, ev := learntest.Config(c, "m", in)
				cfg.ToEnd = false
				_, ended := start(t, cfg)
				eventually(t, "it learns", func() bool { return learned(ev) == 490 })
				writer := kafkatest.ClientOf(t, addr, nil)
				b.Down(func() { b.Cut(in, 0, 1) })
				for rest := values[500 : 500+regrown]; len(rest) > 0; rest = nil {
					kafkatest.Fill(t, writer, in, 1, rest)
				}
				watch := kafkatest.NewStopwatch()
				err := <-ended
				if !errors.Is(err, input.ErrHistory) || !strings.Contains(err.Error(), "truncated") {
					t.Fatalf("%v", err)
				}
				if regrown == 0 && !strings.Contains(err.Error(), "records 400 to 499 were lost") {
					t.Errorf("%v", err)
				}
				took := watch.Elapsed()
				t.Logf("after %v: %v", took, err)
				if took > 3*time.Second {
					t.Errorf("noticed after %v", took)
				}
				if _, err := Open(t.Context(), cfg); !errors.Is(err, input.ErrHistory) {
					t.Errorf("the next start: %v", err)
				}
			})
		}
	})
}

// A learner continues if a broker restarts without losing records.
func TestRestartedBrokerIsTheSame(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
		values := learntest.Rings(1000)
		kafkatest.Fill(t, c, in, 2, values[:500])
		cfg, ev := learntest.Config(c, "m", in)
		cfg.ToEnd = false
		stop, _ := start(t, cfg)
		for i := range 2 {
			eventually(t, "it learns", func() bool { return learned(ev) == int64(490+245*i) })
			b.Down(func() {})
			kafkatest.Fill(t, kafkatest.ClientOf(t, addr, nil), in, 2, values[500+250*i:750+250*i])
		}
		eventually(t, "it learns the rest", func() bool { return learned(ev) == 980 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAddedPartitionsAreLearned(t *testing.T) {
	was := input.PartitionsEvery
	input.PartitionsEvery = 50 * time.Millisecond
	defer func() { input.PartitionsEvery = was }()
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	values := learntest.Rings(1000)
	kafkatest.Fill(t, c, in, 2, values[:400])
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	stop, _ := start(t, cfg)
	eventually(t, "it learns", func() bool { return learned(ev) == 392 })
	kafkatest.AddPartitions(t, addr, in, 5)
	kafkatest.Fill(t, c, in, 5, values[400:])
	eventually(t, "it learns the added partitions", func() bool { return learned(ev) == 980 })
	if g, ok := learntest.Last[event.PartitionsAdded](ev); !ok || g.Topic != in || g.Partitions != 5 {
		t.Errorf("reported %+v, %v", g, ok)
	}
	lags := map[int32]int64{}
	for _, e := range ev.All() {
		if l, ok := e.(event.Lag); ok {
			lags[l.Partition] = l.Next
		}
	}
	if fmt.Sprint(lags) != "map[0:320 1:320 2:120 3:120 4:120]" {
		t.Errorf("lags: %v", lags)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if j, err := journal.OpenComplete(t.Context(), cfg, nil); err != nil || j.Log.Fold.PartitionsOf(in) != 5 {
		t.Errorf("the model log does not say that there are 5 partitions: %v", err)
	}
	kafkatest.Fill(t, c, in, 5, values)
	cfg.ToEnd = true
	learnAll(t, cfg)
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

func TestIDsThatABrokersUpgradeGivesAreNoRecreation(t *testing.T) {
	a, b, none := [16]byte{1}, [16]byte{2}, [16]byte{}
	for _, c := range []struct {
		a, b [16]byte
		same bool
	}{{a, a, true}, {a, b, false}, {none, b, true}, {a, none, true}, {none, none, true}} {
		if got := ingest.SameTopic(c.a, c.b); got != c.same {
			t.Errorf("%v, %v: %v", c.a, c.b, got)
		}
	}
	client, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, client, in, 1, learntest.Rings(300))
	cfg, ev := learntest.Config(client, "m", in)
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range l.inputs { // as before the upgrade
		in.ID = none
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	learnAll(t, cfg)
	kafkatest.Fill(t, client, in, 1, learntest.Rings(300))
	learnAll(t, cfg)
	if n := learned(ev); n != 588 {
		t.Errorf("learned %d", n)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
