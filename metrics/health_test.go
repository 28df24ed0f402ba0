package metrics

import (
	"reflect"
	"testing"
	"time"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time       { return c.t }
func (c *clock) pass(d time.Duration) { c.t = c.t.Add(d) }
func newClock() *clock                { return &clock{time.Unix(1e9, 0)} }
func reasons(h *Health) (reasons []string) {
	states, _ := h.States()
	for _, s := range states {
		reasons = append(reasons, s.Reason)
	}
	return reasons
}

func TestReadyWhileAllConditionsAreGreen(t *testing.T) {
	h := NewHealth(newClock().now)
	if _, ready := h.States(); !ready {
		t.Error("not ready without conditions")
	}
	model := h.Add("model", "no snapshot yet")
	input := h.Add("input", "")
	want := []State{{"model", false, "no snapshot yet"}, {"input", true, ""}}
	if states, ready := h.States(); ready || !reflect.DeepEqual(states, want) {
		t.Errorf("ready %v, %+v, want %+v", ready, states, want)
	}
	model.Green()
	if states, ready := h.States(); !ready {
		t.Errorf("not ready: %+v", states)
	}
	input.Red("more than half of the records are bad")
	if states, ready := h.States(); ready {
		t.Errorf("ready: %+v", states)
	}
}

func TestNoProgressIsRedOnlyUnderLagOrTrouble(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now)
	w := h.Watch("progress", 30*time.Second)
	check := func(when, want string) {
		t.Helper()
		if got := reasons(h)[0]; got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	c.pass(time.Hour)
	check("idle for an hour", "")
	w.Lag(5)
	check("the first records after an hour", "")
	c.pass(30 * time.Second)
	w.Lag(9)
	check("30 s later", "")
	c.pass(time.Second)
	check("31 s later", "no progress for 31s with a lag of 9 records")
	w.Progress()
	check("after progress", "")
	c.pass(31 * time.Second)
	check("another 31 s later", "no progress for 31s with a lag of 9 records")
	w.Lag(0)
	check("without lag", "")
	w.Red("fenced")
	check("red for a reason of its own", "fenced")
	w.Green()
	check("green again", "")
	w.Trouble("no broker answers")
	check("the first trouble", "")
	c.pass(20 * time.Second)
	w.Trouble("connection refused")
	c.pass(11 * time.Second)
	check("31 s of trouble", "for 31s: connection refused")
	w.Progress()
	c.pass(time.Hour)
	check("an hour after it was over", "")
}

// An obstacle to one partition is not over because others are read.
func TestProgressOfAPartIsNotThatOfOthers(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now)
	w := h.Watch("kafka", 10*time.Second)
	check := func(when, want string) {
		t.Helper()
		if got := reasons(h)[0]; got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	for range 11 {
		w.TroubleOf("in/1", "no leader")
		w.Trouble("no answer")
		c.pass(time.Second)
		w.ProgressOf("in/0")
	}
	check("11 s without a leader", "for 11s: no leader")
	w.ProgressOf("in/1")
	check("with a leader", "")
	w.TroubleOf("in/1", "no leader")
	w.Progress()
	c.pass(11 * time.Second)
	check("after progress of the whole", "")
}
