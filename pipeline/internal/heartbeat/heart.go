package heartbeat

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
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// Heart writes the heartbeats of this process until End is called. A nil Heart belongs to a learner
// without heartbeats, and does nothing.
type Heart struct {
	client *ingest.Client
	topic  string
	every  time.Duration
	report func(event.Event)
	out    *ingest.Producer // owned by run, and by End once run has returned

	mu      sync.Mutex
	now     Beat
	claimed bool  // whether the epoch in now is claimed
	misses  int   // heartbeats that failed or were late
	failed  error // of the last heartbeat

	changed chan struct{} // holds a token if now has to be written at once
	quit    chan struct{} // closed by End
	done    chan struct{}
}

// Start writes a first heartbeat and starts a goroutine that writes the others. The goroutine
// outlives ctx, because a learner that drains is still alive. End stops it.
func Start(ctx context.Context, c *ingest.Client, model, host string, every time.Duration, report func(event.Event)) (*Heart, error) {
	topic := Topic(model)
	if err := c.Create(ctx, topic, 1, heartbeatsConfig); err != nil {
		return nil, fmt.Errorf("create topic %q: %w", topic, err)
	}
	var id [8]byte
	rand.Read(id[:])
	h := &Heart{
		client: c, topic: topic, every: every, report: report, out: c.Producer(),
		now:     Beat{Role: Standby, Process: hex.EncodeToString(id[:]), Host: host, Joined: -1},
		changed: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	err := input.Retry(ctx, report, func() error { return h.beat(ctx) })
	if err != nil {
		return nil, fmt.Errorf("write to topic %q: %w", topic, err)
	}
	go h.run(context.WithoutCancel(ctx))
	return h, nil
}

func (h *Heart) run(ctx context.Context) {
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
			h.report(event.Retrying{Err: fmt.Errorf("heartbeat: %w", err)})
			if errors.Is(err, ingest.ErrUnknownTopic) {
				h.client.Create(ctx, h.topic, 1, heartbeatsConfig)
			}
		}
	}
}

// beat makes one attempt to write a heartbeat.
func (h *Heart) beat(ctx context.Context) error {
	const patience = time.Second // the next heartbeat replaces this one
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	now := h.Current()
	value, err := json.Marshal(now)
	if err != nil {
		return err
	}
	at, err := h.out.Append(ctx, h.topic, 0, []ingest.Record{{Time: time.Now().UnixMilli(), Key: []byte(now.Process), Value: value}})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed = err; err != nil || time.Since(begin) > silentBeats*h.every {
		h.misses++
	}
	if err == nil && now.Joined < 0 {
		h.now.Joined = at
	}
	return err
}

// Missed returns the number of heartbeats that failed or were late so far.
func (h *Heart) Missed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.misses
}

// Failed returns the error of the last heartbeat; nil if it was written.
func (h *Heart) Failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// Current returns the current content of a heartbeat.
func (h *Heart) Current() Beat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Own changes the role to owner. If claimed is false, the claim of this epoch is about
// to be made.
func (h *Heart) Own(epoch int64, claimed bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.now.Role, h.now.Epoch, h.claimed = Owner, epoch, claimed
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// End stops the heartbeats and writes a last one. It says whether this process was fenced or has
// left, so that a standby need not wait for a timeout.
func (h *Heart) End(fenced bool) {
	if h == nil {
		return
	}
	close(h.quit)
	<-h.done // a heartbeat in flight is not cancelled: its connection is used once more
	h.mu.Lock()
	if h.now.Role = Left; fenced {
		h.now.Role = Fenced
	}
	if !h.claimed {
		h.now.Epoch = 0
	}
	h.mu.Unlock()
	h.beat(context.Background()) // if it fails, a standby waits as long as after a crash
}

// recentBeats is the number of records that Fencings reads: about one minute of the heartbeats of
// five learners.
const recentBeats = 7 * 60 * 5

// Fencings returns the number of learners that were fenced in the last minute.
func (h *Heart) Fencings(ctx context.Context) (n int, err error) {
	first, end, err := h.client.Offsets(ctx, h.topic)
	if err != nil {
		return 0, err
	}
	var times []int64
	now := int64(0)
	f := h.client.Fetcher(h.topic, 0)
	for next := max(first[0], end[0]-recentBeats); next < end[0]; {
		got, err := input.Poll(ctx, f, next, h.report)
		var gap *ingest.GapError
		if errors.As(err, &gap) { // deleted by retention in the meantime
			next = gap.LogStart
			continue
		}
		if err != nil {
			return 0, err
		}
		for _, r := range got.Records {
			var b Beat
			if json.Unmarshal(r.Value, &b) == nil && b.Role == Fenced {
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
