package pipeline

import (
	"errors"
	"strconv"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/transfer"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A standby that takes over publishes what it holds after the last seq that is known to be published.
func TestAStandbyPublishesWhatTheOwnerMayNotHave(t *testing.T) {
	c, topic := kafkatest.Client(t), kafkatest.Name("predictions")
	kafkatest.Fill(t, c, topic, 1, learntest.Rings(1))
	held := new(warm)
	for seq := range int64(5) {
		r := ingest.Record{Value: strconv.AppendInt(nil, seq, 10)}
		held.waiting = append(held.waiting, &history.Publication{Seq: seq, Predictions: []history.Outgoing{{Record: r}}})
	}
	out := &publisher{producer: c.Producer(), predictions: topic, partitions: 1, report: func(event.Event) {}, waiting: make(chan struct{})}
	if err := (&Learner{out: out}).again(t.Context(), &standby{warm: held}, 2); err != nil {
		t.Fatal(err)
	}
	if rs := kafkatest.Read(t, c, topic); len(rs) != 3 || string(rs[1].Value) != "3" || string(rs[2].Value) != "4" || out.done() != 4 {
		t.Errorf("published %v, up to seq %d; want 3 and 4", rs[1:], out.done())
	}
}

// claimed returns a log with a claim of epoch 1, and one BATCH.
func claimed(t *testing.T) *modellog.Fold {
	log, versions := new(transfer.Rehearsal), history.Versions
	err := log.Claim(versions, func(o modellog.Owner) []modellog.Record {
		b := &modellog.Batch{Owner: o, Seq: 1, Ranges: []modellog.Range{{Topic: "rows", To: 1}}}
		b.Chain = modellog.NextChain(snapshot.Hash{}, b)
		return []modellog.Record{&modellog.Genesis{Owner: o, Model: "m", Versions: versions}, b}
	})
	if err != nil {
		t.Fatal(err)
	}
	return log.Fold()
}

// A standby that has learned something else than the log has begins again.
func TestAStandbyWithAnotherHistoryBeginsAgain(t *testing.T) {
	f := claimed(t)
	w := &warm{history: &history.History{Seq: 1, Chain: f.Chain()}}
	if _, err := w.pending(f); err != nil {
		t.Errorf("the same history: %v", err)
	}
	w.history.Chain[0]++
	if _, err := w.pending(f); !errors.Is(err, errCold) {
		t.Errorf("another history: %v", err)
	}
}

// An owner whose heartbeats do not arrive is alive if the log has grown, unless it has said that it leaves.
func TestAStandbyLeavesAnOwnerThatAppendsAlone(t *testing.T) {
	silent := func() *standby {
		s := &standby{heart: new(heartbeat.Heart), journal: &journal.Journal{Log: &kafkalog.Log{Fold: claimed(t)}}, roster: heartbeat.NewRoster(heartbeat.Beat{Process: "this"})}
		for i := range int64(100) {
			s.roster.See(i, heartbeat.Beat{Role: heartbeat.Standby, Process: "this"}, 1)
		}
		return s
	}
	if s := silent(); s.due(true) || s.due(false) {
		t.Error("it takes over from an owner that appends")
	}
	if !silent().due(false) {
		t.Error("it does not take over from an owner that does nothing")
	}
	s := silent()
	if s.roster.See(100, heartbeat.Beat{Role: heartbeat.Left, Process: "owner", Epoch: 1}, 1); !s.due(true) {
		t.Error("it does not take over from an owner that has left")
	}
}

// A standby that takes over learns from partitions that were added while it waited.
func TestAStandbyHasThePartitionsThatWereAdded(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	kafkatest.Fill(t, c, in, 2, learntest.Rings(2))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	ins, err := input.Open(t.Context(), c, cfg.Topics)
	if err != nil {
		t.Fatal(err)
	}
	kafkatest.AddPartitions(t, addr, in, 5)
	for stoodBy, want := range map[bool]int{false: 2, true: 5} {
		l := &Learner{config: cfg, inputs: ins}
		if err := l.updateInputs(t.Context(), stoodBy); err != nil || len(l.inputs) != want {
			t.Errorf("stood by: %v: %d partitions, %v; want %d", stoodBy, len(l.inputs), err, want)
		}
	}
}
