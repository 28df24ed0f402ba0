// Package grouplag commits a learner's positions to a consumer group, so that the
// tools that monitor consumer groups (kafka-consumer-groups, kminion, Burrow,
// KEDA) see its lag. The learner never reads them: its own positions are in the model
// log.
package grouplag

import (
	"context"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
)

// Committer commits the positions of one learner.
type Committer struct {
	client *ingest.Client
	group  string
	failed func(error) // called with the first of several failures in a row

	mu      sync.Mutex
	seq     int64
	reached []snapshot.Position
}

// New returns a Committer. It calls failed when commits begin to fail; failures do not affect the
// learner.
func New(client *ingest.Client, group string, failed func(error)) *Committer {
	return &Committer{client: client, group: group, failed: failed}
}

// Reached records the positions after the BATCH seq. It copies them.
func (c *Committer) Reached(seq int64, positions []snapshot.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq, c.reached = seq, append(c.reached[:0], positions...)
}

// Run commits the positions that have been reached, once their BATCH is published: every interval,
// and once more when ctx ends. published returns once the BATCH seq is published.
func (c *Committer) Run(ctx context.Context, interval time.Duration, published func(context.Context, int64) error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var last int64
	failing := false
	for done := false; !done; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
		seq, offsets := c.latest()
		if seq == last || len(offsets) == 0 || published(ctx, seq) != nil {
			continue
		}
		// The last commit delays the end of the process, so its time is limited.
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		err := c.client.CommitGroup(limit, c.group, offsets)
		cancel()
		if err == nil {
			last = seq
		} else if !failing {
			c.failed(err)
		}
		failing = err != nil
	}
}

// latest returns the newest positions as offsets by topic; -1 where there is none.
func (c *Committer) latest() (int64, map[string][]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	offsets := map[string][]int64{}
	for _, p := range c.reached {
		of := offsets[p.Topic]
		for len(of) <= int(p.Partition) {
			of = append(of, -1)
		}
		of[p.Partition] = p.Next
		offsets[p.Topic] = of
	}
	return c.seq, offsets
}
