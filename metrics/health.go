package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Health is the readiness of a process: named conditions, each green or red with
// a reason. The process is ready while all of them are green.
type Health struct {
	now        func() time.Time
	mu         sync.Mutex
	conditions []*Condition // in the order in which they were added
}

// NewHealth returns a Health without conditions, which is ready. now returns the
// current time.
func NewHealth(now func() time.Time) *Health { return &Health{now: now} }

// Condition is one of the conditions of readiness.
type Condition struct {
	h      *Health
	name   string
	reason string        // why the condition is red; empty if it is green
	note   string        // shown while the condition is green
	limit  time.Duration // maximum time without progress, for Watch; otherwise 0

	lag      int64
	troubles map[string]string // obstacles since the last progress, by the part of the activity
	since    time.Time         // time of the last progress, or when the lag or the first trouble began
}

// Add adds a condition that is red for the given reason, or green if the reason
// is empty.
func (h *Health) Add(name, reason string) *Condition {
	return h.add(&Condition{h: h, name: name, reason: reason})
}

// Watch adds a condition that turns red when there is lag or trouble and no
// progress for longer than limit.
func (h *Health) Watch(name string, limit time.Duration) *Condition {
	return h.add(&Condition{h: h, name: name, limit: limit, troubles: map[string]string{}, since: h.now()})
}

func (h *Health) add(c *Condition) *Condition {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conditions = append(h.conditions, c)
	return c
}

// Green marks the condition as holding.
func (c *Condition) Green() { c.Red("") }

// Red marks the condition as not holding, with the reason.
func (c *Condition) Red(reason string) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.reason = reason
}

// Note sets a text that is shown with the condition while it is green.
func (c *Condition) Note(text string) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.note = text
}

// Progress records progress of a watched activity.
func (c *Condition) Progress() {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	clear(c.troubles)
	c.since = c.h.now()
}

// ProgressOf records progress of one part of a watched activity, such as a partition. It does not
// count while other parts have obstacles.
func (c *Condition) ProgressOf(part string) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	delete(c.troubles, part)
	delete(c.troubles, "")
	if len(c.troubles) == 0 {
		c.since = c.h.now()
	}
}

// Trouble records an obstacle to a watched activity. The next progress clears it.
func (c *Condition) Trouble(reason string) { c.TroubleOf("", reason) }

// TroubleOf records an obstacle to one part of a watched activity, which only progress of that part
// or of the whole clears.
func (c *Condition) TroubleOf(part, reason string) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	if len(c.troubles) == 0 {
		c.since = c.h.now()
	}
	c.troubles[part] = reason
}

// Lag sets the amount of outstanding work of a watched activity. If there was none
// before, the limit starts now.
func (c *Condition) Lag(records int64) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	if c.lag <= 0 && records > 0 {
		c.since = c.h.now()
	}
	c.lag = records
}

// State is the state of a condition at one instant.
type State struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"`
}

// States returns all conditions in the order in which they were added, and
// reports whether all are green.
func (h *Health) States() (states []State, ready bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	states = []State{}
	for _, c := range h.conditions {
		reason := c.reason
		if idle := now.Sub(c.since); reason == "" && c.limit > 0 && idle > c.limit {
			switch {
			case len(c.troubles) > 0:
				part := slices.Min(slices.Collect(maps.Keys(c.troubles)))
				reason = fmt.Sprintf("for %v: %s", idle.Truncate(time.Second), c.troubles[part])
			case c.lag > 0:
				reason = fmt.Sprintf("no progress for %v with a lag of %d records", idle.Truncate(time.Second), c.lag)
			}
		}
		states = append(states, State{c.name, reason == "", cmp.Or(reason, c.note)})
	}
	return states, !slices.ContainsFunc(states, func(s State) bool { return !s.Ready })
}
