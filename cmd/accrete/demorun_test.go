package main

import (
	"math"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// The memory limit of a learner says nothing about a process that also has the broker and the scorer.
func TestDemoHasNoMemoryLimit(t *testing.T) {
	registry, health := newRegistry()
	m := &demo{watch: watch.New("demo", zerolog.Nop(), registry, health), board: page.NewBoard(time.Now)}
	m.event(event.Memory{Limit: 1 << 20})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if limit := f.Metric[0].GetGauge().GetValue(); f.GetName() == "accrete_memory_limit_bytes" && !math.IsNaN(limit) {
			t.Errorf("%s is %v, want none", f.GetName(), limit)
		}
	}
}
