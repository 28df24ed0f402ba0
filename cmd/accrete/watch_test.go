package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
)

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
