package pipeline

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// HeartbeatsTopic returns the name of the topic of the heartbeats of a model's learners.
func HeartbeatsTopic(model string) string { return model + ".heartbeats" }

// heartbeatsConfig keeps the records for an hour, for inspection. The broker sets
// their timestamps, so that the clocks of the learners' machines do not matter.
var heartbeatsConfig = map[string]string{
	"cleanup.policy":         "delete",
	"retention.ms":           "3600000",
	"segment.ms":             "600000",
	"message.timestamp.type": "LogAppendTime",
}

// HeartbeatEvery is the usual interval of heartbeats. A standby takes over after
// silentBeats heartbeats of its own without one of the owner in between.
const HeartbeatEvery = 150 * time.Millisecond

// role is the state of the process that writes a heartbeat.
type role string

const (
	owning     role = "owner"   // learns, or is about to
	standingBy role = "standby" // waits for the owner to end
	left       role = "left"    // has ended for another reason than being fenced
	fencedOff  role = "fenced"  // has ended because another learner has claimed the model
)

// heartbeat is the value of a record of the heartbeats topic.
type heartbeat struct {
	Role    role   `json:"role"`
	Process string `json:"process"`         // random id, drawn when the process starts
	Host    string `json:"host"`            // host name and process id, for information
	Epoch   int64  `json:"epoch,omitempty"` // of an owner's claim, or of the one that it is about to make
	Joined  int64  `json:"joined"`          // offset of the first heartbeat of this process; -1 in that one
}

// heart writes the heartbeats of this process until end is called. A nil heart, of a
// learner without heartbeats, does nothing.
type heart struct {
	client *ingest.Client
	topic  string
	every  time.Duration
	report func(Event)
	out    *ingest.Producer // owned by run, and by end once run has returned

	mu      sync.Mutex
	now     heartbeat
	claimed bool // whether the epoch in now is claimed
	misses  int  // heartbeats that failed or were late

	changed chan struct{} // holds a token if now has to be written at once
	quit    chan struct{} // closed by end
	done    chan struct{}
}

// startHeart writes a first heartbeat and starts a goroutine that writes the others.
// The goroutine outlives ctx, because a learner that drains is still alive. Stop it
// with end.
func startHeart(ctx context.Context, c Config) (*heart, error) {
	topic := HeartbeatsTopic(c.Model)
	if err := c.Client.Create(ctx, topic, 1, heartbeatsConfig); err != nil {
		return nil, fmt.Errorf("create topic %q: %w", topic, err)
	}
	var id [8]byte
	rand.Read(id[:])
	h := &heart{
		client: c.Client, topic: topic, every: c.Heartbeat, report: c.Report, out: c.Client.Producer(),
		now:     heartbeat{Role: standingBy, Process: hex.EncodeToString(id[:]), Host: host(), Joined: -1},
		changed: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	err := retry(ctx, c.Report, func() error { return h.beat(ctx) })
	if err != nil {
		return nil, fmt.Errorf("writing to topic %q: %w", topic, err)
	}
	go h.run(context.WithoutCancel(ctx))
	return h, nil
}

func (h *heart) run(ctx context.Context) {
	defer close(h.done)
	for {
		t := time.NewTimer(h.every)
		select {
		case <-h.quit:
			t.Stop()
			return
		case <-h.changed:
		case <-t.C:
		}
		t.Stop()
		if err := h.beat(ctx); err != nil && !ingest.Temporary(err) && !errors.Is(err, ingest.ErrAmbiguous) {
			h.report(Retrying{fmt.Errorf("heartbeat: %w", err)})
			if errors.Is(err, ingest.ErrUnknownTopic) {
				h.client.Create(ctx, h.topic, 1, heartbeatsConfig)
			}
		}
	}
}

// beat makes one attempt to write a heartbeat.
func (h *heart) beat(ctx context.Context) error {
	const patience = time.Second // the next heartbeat replaces this one
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	now := h.is()
	value, err := json.Marshal(now)
	if err != nil {
		return err
	}
	at, err := h.out.Append(ctx, h.topic, 0, []ingest.Record{{Time: time.Now().UnixMilli(), Key: []byte(now.Process), Value: value}})
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil || time.Since(begin) > silentBeats*h.every {
		h.misses++
	}
	if err == nil && now.Joined < 0 {
		h.now.Joined = at
	}
	return err
}

// missed returns the number of heartbeats that failed or were late so far.
func (h *heart) missed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.misses
}

// is returns the current content of a heartbeat.
func (h *heart) is() heartbeat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// own changes the role to owner. If claimed is false, the claim of this epoch is about
// to be made.
func (h *heart) own(epoch int64, claimed bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.now.Role, h.now.Epoch, h.claimed = owning, epoch, claimed
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// end stops the heartbeats and writes a last one, which says whether this process was
// fenced or has left, so that a standby need not wait for a timeout.
func (h *heart) end(cause error) {
	if h == nil {
		return
	}
	close(h.quit)
	<-h.done // a heartbeat in flight is not cancelled: its connection is used once more
	h.mu.Lock()
	if h.now.Role = left; errors.Is(cause, ErrFenced) {
		h.now.Role = fencedOff
	}
	if !h.claimed {
		h.now.Epoch = 0
	}
	h.mu.Unlock()
	h.beat(context.Background()) // if it fails, a standby waits as long as after a crash
}

// lately is the number of records that fencings reads: about one minute of the
// heartbeats of five learners.
const lately = 7 * 60 * 5

// fencings returns the number of learners that were fenced in the last minute.
func (h *heart) fencings(ctx context.Context) (n int, err error) {
	first, end, err := h.client.Offsets(ctx, h.topic)
	if err != nil {
		return 0, err
	}
	var times []int64
	now := int64(0)
	f := h.client.Fetcher(h.topic, 0)
	for next := max(first[0], end[0]-lately); next < end[0]; {
		got, err := pollRetry(ctx, f, next, h.report)
		if err != nil {
			return 0, err
		}
		for _, r := range got.Records {
			var b heartbeat
			if json.Unmarshal(r.Value, &b) == nil && b.Role == fencedOff {
				times = append(times, r.Time)
			}
			now = max(now, r.Time)
		}
		next = got.Next
	}
	for _, t := range times {
		if now-t < time.Minute.Milliseconds() {
			n++
		}
	}
	return n, nil
}
