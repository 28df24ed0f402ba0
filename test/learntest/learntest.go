// Package learntest has a small model, its records and the events of its learner, for tests.
package learntest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
)

// Rings returns n records in which the class depends on the distance from the centre.
// Every 50th record has no label.
func Rings(n int) []string {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]string, n)
	for i := range out {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		label := fmt.Sprintf(`,"label":"%v"`, math.Hypot(x, y) > 1.2)
		if i%50 == 49 {
			label = ""
		}
		out[i] = fmt.Sprintf(`{"features":{"x":%v,"y":%v}%s}`, x, y, label)
	}
	return out
}

// Events collects the events that a pipeline reports.
type Events struct {
	mu  sync.Mutex
	all []event.Event
}

func (e *Events) Add(ev event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// All returns the events so far.
func (e *Events) All() []event.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}

// Reset forgets all events.
func (e *Events) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = nil
}

// Last returns the last event of type E.
func Last[E any](e *Events) (ev E, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.all {
		if x, is := x.(E); is {
			ev, ok = x, true
		}
	}
	return ev, ok
}

// Newton is the small model of the default algorithm, for tests of what it keeps.
var Newton = learner.Config{Kernel: "gaussian:1.5", BlockSize: 16, MaxFeatures: 64}

// Config returns the configuration of a model. The model is unique to the test run if
// the topic is. It is a quick one, with a fixed scale for the warm-up, since what is
// learned does not matter to most tests: the time of Newton is three times as long.
func Config(c *ingest.Client, name, topic string) (model.Config, *Events) {
	ev := new(Events)
	return model.Config{
		Model: name + "." + topic, Client: c, Topics: []string{topic},
		Learner:   learner.Config{Algorithm: "cdsg", Kernel: "gaussian:1.5", BlockSize: 8, Minibatch: 32, MaxFeatures: 32},
		BatchSize: 100, Linger: time.Millisecond,
		SnapshotEvery: time.Hour, ReplayLimit: time.Hour, Keep: 3, History: 1 << 30,
		ToEnd: true, Report: ev.Add,
	}, ev
}

// FinalHash returns the state hash of the last snapshot.
func FinalHash(t *testing.T, ev *Events) snapshot.Hash {
	t.Helper()
	s, ok := Last[event.Saved](ev)
	if !ok {
		t.Fatal("no snapshot was saved")
	}
	return s.StateHash
}

// Wants fails the test unless err is of the kind and its text contains what.
func Wants(t *testing.T, err, kind error, what string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), what) {
		t.Errorf("it ended with %v, want %v that says %q", err, kind, what)
	}
}
