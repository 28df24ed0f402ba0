package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
)

// A terminal of 80 columns still shows the rate, the lag and the error.
func TestNarrowTerminalShowsTheLag(t *testing.T) {
	value := 0.123456
	r := watch.Report{
		Examples: 12_345_678, ExamplesPerSecond: 12_345, Lag: 1_234_567, Quarantined: 1_234, Progressive: &value,
		Baselines: &watch.Baselines{Majority: 0.5, NoChange: 0.5, Linear: 0.5}, Features: 16_384, Snapshots: 1_234,
	}
	var b strings.Builder
	s := display.NewScreen(&b, func() int { return 80 })
	s.Show(r.String())
	for _, want := range []string{"12,345/s", "lag 1,234,567", "1,234 in quarantine", "error 0.1235"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q does not show %s", b.String(), want)
		}
	}
}

// The state hash is null before the first snapshot.
func TestNoHashWithoutASnapshot(t *testing.T) {
	w := watch.New("m", zerolog.Nop(), prometheus.NewRegistry(), metrics.NewHealth(time.Now))
	hash := func() any {
		t.Helper()
		b, err := json.Marshal(w.Current())
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		return got["state_hash"]
	}
	w.Event(event.Learned{Progress: learner.Progress{Examples: 3}})
	if got := hash(); got != nil || stateLine(w.Current()) != "" {
		t.Errorf("before the first snapshot: %v", got)
	}
	want := snapshot.Hash{0xab}
	w.Event(event.Saved{StateHash: want})
	if got := hash(); got != want.String() || !strings.Contains(stateLine(w.Current()), want.String()) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOneOfAThingIsSingular(t *testing.T) {
	for _, c := range []struct {
		n          int64
		noun, want string
	}{{0, "row", "0 rows"}, {1, "class", "1 class"}, {2, "class", "2 classes"}, {1234, "snapshot", "1,234 snapshots"}} {
		if got := display.Count(c.n, c.noun); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}
