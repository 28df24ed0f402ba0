package watch

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// A learner that rolls itself back, because the input of a BATCH is lost, names what it abandons.
func TestARollbackOfTheLearnerIsLogged(t *testing.T) {
	var b bytes.Buffer
	w := New("m", zerolog.New(&b), prometheus.NewRegistry(), metrics.NewHealth(time.Now))
	w.Event(event.RolledBack{Record: &modellog.Rollback{Seq: 81, ToSeq: 60, Reason: "BATCH 61 cannot be replayed"}})
	for _, want := range []string{`"level":"error"`, `"to_seq":60,"abandoned_from":61,"abandoned_to":80`, "BATCH 61 cannot be replayed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q does not have %s", b.String(), want)
		}
	}
}

// The age of the newest snapshot is known before this process has written one: a learner that was
// restarted and cannot write any would otherwise never be noticed.
func TestTheAgeOfTheNewestSnapshotSurvivesARestart(t *testing.T) {
	r := prometheus.NewRegistry()
	w := New("m", zerolog.Nop(), r, metrics.NewHealth(time.Now))
	w.Event(event.Replayed{Snapshots: []*modellog.Manifest{{Size: 5, Time: 1_700_000_000_000}, {Size: 7, Time: 1_700_000_060_500}}})
	want := map[string]float64{"accrete_snapshot_timestamp_seconds": 1_700_000_060.5, "accrete_snapshot_bytes": 7}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if v, ok := want[f.GetName()]; ok {
			if got := f.GetMetric()[0].GetGauge().GetValue(); got != v {
				t.Errorf("%s is %v, want %v", f.GetName(), got, v)
			}
			delete(want, f.GetName())
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

// What a model keeps has its metrics before the first record after a start.
func TestWhatIsKeptIsShownFromTheStartOn(t *testing.T) {
	r := prometheus.NewRegistry()
	w := New("m", zerolog.Nop(), r, metrics.NewHealth(time.Now))
	kept := event.Kept{Late: &join.Status{}, Windows: &learner.WindowStatus{Keys: 5}, Tables: []event.Table{{Status: table.Status{Name: "customers", Rows: 3}}}}
	kept.Late.Pending = 7
	w.Event(event.Replayed{Kept: kept})
	want := map[string]float64{"accrete_table_rows": 3, "accrete_window_keys": 5, "accrete_late_waiting": 7}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetGauge() != nil && m.GetGauge().GetValue() == want[f.GetName()] {
				delete(want, f.GetName())
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

// A standby that takes over is worth a warning, and the first learner of a model is not.
func TestOnlyATakeoverIsWarnedOf(t *testing.T) {
	for epoch, want := range map[int64]bool{0: false, 1: true} {
		var b bytes.Buffer
		New("m", zerolog.New(&b), prometheus.NewRegistry(), metrics.NewHealth(time.Now)).Event(event.TakingOver{Epoch: epoch})
		if got := bytes.Contains(b.Bytes(), []byte("its owner has stopped")); got != want {
			t.Errorf("epoch %d: %s", epoch, &b)
		}
	}
}

// A model that began with a file without a label has learned nothing, which its owner may not have meant.
func TestAFileWithoutLabelsIsWarnedOf(t *testing.T) {
	for _, test := range []struct {
		kind     string
		examples int64
		warns    bool
	}{{modellog.StartFile, 0, true}, {modellog.StartFile, 1, false}, {modellog.StartSnapshot, 0, false}} {
		var b bytes.Buffer
		w := New("m", zerolog.New(&b), prometheus.NewRegistry(), metrics.NewHealth(time.Now))
		w.Event(event.Began{Start: &modellog.Start{Kind: test.kind}, Examples: test.examples})
		if strings.Contains(b.String(), "no row of the file has a label") != test.warns {
			t.Errorf("%+v: %s", test, b.String())
		}
	}
}

// A standby that cannot write heartbeats is not ready, although it follows the model log; nor is a
// learner that reads only one of two partitions.
func TestPartOfTheWorkIsNotReadiness(t *testing.T) {
	for _, test := range []struct {
		what                string
		failed, other, over event.Event
	}{
		{"a standby", event.StandingBy{Mute: ingest.ErrDenied}, event.StandingBy{Mute: ingest.ErrDenied}, event.StandingBy{}},
		{"a learner", event.Retrying{Err: ingest.ErrUnreachable, Topic: "in", Partition: 1}, event.Lag{Topic: "in"}, event.Lag{Topic: "in", Partition: 1}},
	} {
		now := time.Now()
		h := metrics.NewHealth(func() time.Time { return now })
		w := New("m", zerolog.Nop(), prometheus.NewRegistry(), h)
		w.Event(event.StandingBy{})
		for range 3 {
			w.Event(test.failed)
			now = now.Add(Patience / 2)
			w.Event(test.other)
		}
		if states, ready := h.States(); ready {
			t.Errorf("%s is ready: %v", test.what, states)
		}
		w.Event(test.over)
		if states, ready := h.States(); !ready {
			t.Errorf("%s is not ready again: %v", test.what, states)
		}
	}
}
