package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/test/kafkatest"
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

// Learners and scorers that a signal stops end with exit code 0, before they have a model and
// after, and log the signal, and what they had.
func TestStopsAreLogged(t *testing.T) {
	var values []string
	rng := rand.New(rand.NewPCG(3, 2))
	for range 200 {
		values = append(values, string(ring(rng)))
	}
	d := kafkatest.NewDisk(t)
	kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), "in", 1, values)
	inDir(t, fmt.Sprintf("model: m\nkafka: {bootstrap.servers: %q}\ninput: {topics: [in], label: label}\nscore: {topics: [in], http.listen: \"off\"}\nlearner: {max_features: 64, mixture: off}\nhttp: {listen: \"off\"}\n", d.Addr))
	stop := func(when, want string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var out, log output
		code := make(chan int)
		go func() {
			code <- run(ctx, append(args, "-c", "config.yaml"), nil, strings.NewReader(""), &out, &log)
		}()
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), when); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%v: no %q in %s", args, when, log.String())
			}
		}
		cancel(errors.New("terminated signal received"))
		got := <-code
		if text := log.String(); got != exit.Done || !strings.Contains(text, `"signal":"terminated"`) || !strings.Contains(text, `"message":"stopping"`) || !strings.Contains(text, want) {
			t.Errorf("%v: exit code %d, want 0 and %q\n%s", args, got, want, text)
		}
	}
	stop("waiting for a snapshot", `"message":"stopped"`, "score")
	stop(`"message":"learning"`, `"message":"stopped"`, "learn")
	call(t, nil, "learn", "--to-end", "-c", "config.yaml")
	stop("switched to a snapshot", `"message":"stopped"`, "score")
	d.Stop()
	stop("", "", "learn") // the broker does not answer
}
