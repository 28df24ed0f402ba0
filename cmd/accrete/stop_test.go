package main

import (
	"context"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/metrics"
)

// A process that is told to stop is not ready from then on, and the time since then is part of
// that for requests under way.
func TestStoppingProcessIsNotReady(t *testing.T) {
	h := metrics.NewHealth(time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	left := site{health: h}.unready(ctx)
	if states, ready := h.States(); !ready {
		t.Fatalf("before: %v", states)
	}
	cancel()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if _, ready := h.States(); !ready {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still ready")
		}
		time.Sleep(time.Millisecond)
	}
	if d := left(); d >= metrics.DrainLimit || d < metrics.DrainLimit/2 {
		t.Errorf("%v are left for requests, want less than %v", d, metrics.DrainLimit)
	}
	if d := (site{health: h}).unready(t.Context())(); d != metrics.DrainLimit {
		t.Errorf("without a signal %v are left, want %v", d, metrics.DrainLimit)
	}
}
