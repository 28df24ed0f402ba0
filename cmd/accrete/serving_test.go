package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/history"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// What hold, pin and promote choose is in the log, from which it is read by a scorer that
// starts, and in an export, also where its offsets are others.
func TestHoldPinAndPromote(t *testing.T) {
	var values []string
	rng := rand.New(rand.NewPCG(3, 2))
	for range 420 {
		values = append(values, string(ring(rng)))
	}
	d := kafkatest.NewDisk(t)
	do := on(t, d.Addr)
	do(exit.Refused, "no learner of this model has run", "hold")
	client := kafkatest.ClientOf(t, d.Addr, nil)
	var steps []int64
	for i := range 3 {
		kafkatest.Fill(t, client, "in", 1, values[130*i:130*(i+1)])
		do(exit.Done, "", "learn", "--to-end")
		steps = append(steps, read[audit.LogReport](t, do(exit.Done, "", "inspect", "--json", "--records", "0")).Snapshots[0].Step)
	}
	serves := func(addr string, mode modellog.Mode, step int64) {
		t.Helper()
		f := serve.NewFollower(kafkatest.ClientOf(t, addr, nil), "m.log", nil, func(string, error) {})
		if m, err := f.Next(t.Context()); err != nil || m.ID.Step != step || f.Choice().Mode != mode {
			t.Fatalf("serves step %d, %v, %v, want %v of step %d", m.ID.Step, f.Choice(), err, mode, step)
		}
	}
	serves(d.Addr, modellog.Follow, steps[2])
	do(exit.Refused, "unknown version", "pin", "7")
	do(exit.Refused, "unknown version", "pin", "yesterday")
	do(exit.Misused, "", "pin")
	r := read[history.ServingReport](t, do(exit.Done, "", "pin", fmt.Sprint(steps[0]), "--reason", "labels", "--json"))
	if r.Mode != modellog.Pin || r.Step != steps[0] || r.Before.Snapshot.Step != steps[2] || r.Reason != "labels" {
		t.Errorf("pinned: %+v", r)
	}
	serves(d.Addr, modellog.Pin, steps[0])
	dir := t.TempDir()
	for version, step := range map[string]int64{"": steps[2], serve.Champion: steps[0], fmt.Sprint(steps[1]): steps[1], time.Now().Add(time.Hour).Format(time.RFC3339): steps[2]} {
		name := filepath.Join(dir, "m.snap")
		r := read[history.ModelReport](t, do(exit.Done, "", "export", "--snapshot", "--version", version, name, "--json"))
		d := read[snapshot.Description](t, do(exit.Done, "", "inspect", name, "--json"))
		if r.Step != step || d.Step != step || r.StateHash != d.StateHash || d.Damage != "" {
			t.Errorf("exported version %q: %+v, %+v, want step %d", version, r, d, step)
		}
	}
	do(exit.Refused, "no such version as 7 in m.log", "export", "--mlflow", "--version", "7", filepath.Join(dir, "folder"))
	file := filepath.Join(t.TempDir(), "m.export")
	do(exit.Done, "", "export", file)
	other := kafkatest.NewDisk(t)
	there := on(t, other.Addr)
	there(exit.Done, "", "import", file)
	serves(other.Addr, modellog.Pin, steps[0])

	do(exit.Done, fmt.Sprintf("the snapshot of step %d (seq ", steps[2]), "promote")
	serves(d.Addr, modellog.Follow, steps[2])
	do(exit.Done, "until accrete promote", "hold")
	kafkatest.Fill(t, client, "in", 1, values[390:])
	do(exit.Done, "", "learn", "--to-end")
	serves(d.Addr, modellog.Hold, steps[2])
	do(exit.Done, "hold snapshot", "inspect", "--records", "100")
}

// A scorer that starts serves a model that is as old as its snapshot.
func TestAgeOfTheModelIsThatOfItsSnapshot(t *testing.T) {
	r := prometheus.NewRegistry()
	c := newTally(env.New(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer("m", r), metrics.NewHealth(time.Now))
	age := func() float64 {
		t.Helper()
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "accrete_scorer_model_timestamp_seconds" {
				return f.Metric[0].GetGauge().GetValue()
			}
		}
		t.Fatal("no accrete_scorer_model_timestamp_seconds")
		return 0
	}
	c.event(serve.Switched{To: &serve.Served{Written: time.UnixMilli(1_700_000_000_500)}})
	if got := age(); got != 1_700_000_000.5 {
		t.Errorf("it was written at %v, want 1700000000.5", got)
	}
	c.event(serve.Switched{To: &serve.Served{}})
	if got := age(); !math.IsNaN(got) {
		t.Errorf("an unknown time is %v, want NaN", got)
	}
}

// /readyz says why the newest snapshot is not served.
func TestReadinessNamesWhatIsServed(t *testing.T) {
	r := prometheus.NewRegistry()
	h := metrics.NewHealth(time.Now)
	c := newTally(env.New(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer("m", r), h)
	note := func(want ...string) {
		t.Helper()
		states, _ := h.States()
		for _, text := range want {
			if !strings.Contains(states[0].Reason, text) {
				t.Errorf("%q, want %q", states[0].Reason, text)
			}
		}
		if len(want) == 0 && states[0].Reason != "" {
			t.Errorf("%q, want nothing", states[0].Reason)
		}
	}
	c.event(serve.Switched{To: &serve.Served{}})
	note()
	c.event(serve.Judged{Step: 9, Gate: modellog.Gate{Metric: "loss", Rows: 5, Loss: 2, Served: 1, Champion: modellog.Ref{Step: 7}}})
	note("the snapshot of step 9 is refused by the gate", "that of step 7 has 1")
	c.event(serve.Chosen{Choice: modellog.Choice{Mode: modellog.Pin, Snapshot: modellog.Ref{Step: 3}, Reason: "labels"}})
	note("pin: step 3 is served until accrete promote", "(labels)", "step 9")
	c.event(serve.Chosen{Choice: modellog.Choice{Mode: modellog.Follow}})
	c.event(serve.Judged{Step: 10, Gate: modellog.Gate{Passed: true}})
	note()
	c.event(serve.Damaged{ID: "ab", Err: io.ErrUnexpectedEOF})
	note("snapshot ab cannot be used: unexpected EOF")
}

// The log line about what is served has the reason and the author only if there are any.
func TestTheLogHasNoEmptyFields(t *testing.T) {
	for _, test := range []struct {
		choice modellog.Choice
		fields int
	}{
		{modellog.Choice{Mode: modellog.Follow, Snapshot: modellog.Ref{Step: 3}}, 0},
		{modellog.Choice{Mode: modellog.Pin, Snapshot: modellog.Ref{Step: 3}, Reason: "labels", By: "ada"}, 2},
	} {
		var log strings.Builder
		e := env.New(nil, nil, io.Discard, &log)
		e.StartLog("info", "json", false)
		newTally(e, "m", metrics.NewScorer("m", prometheus.NewRegistry()), metrics.NewHealth(time.Now)).event(serve.Chosen{Choice: test.choice})
		if n := strings.Count(log.String(), `"reason":`) + strings.Count(log.String(), `"by":`); n != test.fields || !strings.Contains(log.String(), "snapshot to serve") {
			t.Errorf("%+v: %s", test.choice, log.String())
		}
	}
}
