package input

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Cursors read ranges of offsets of partitions within a shared budget. If one of them needs room,
// the least recently used ones discard what they have read ahead. Only one goroutine may use them.
type Cursors struct {
	client  *ingest.Client
	budget  *ingest.Budget
	cursors map[*Partition]*Cursor
	used    []*Cursor // the least recently used first
}

// NewCursors returns Cursors that keep to the budget b.
func NewCursors(c *ingest.Client, b *ingest.Budget) *Cursors {
	return &Cursors{client: c, budget: b, cursors: map[*Partition]*Cursor{}}
}

// Take returns copies of the records of a partition in [from, to).
func (cs *Cursors) Take(ctx context.Context, in *Partition, from, to int64, report func(event.Event)) ([]ingest.Record, error) {
	c := cs.cursors[in]
	if c == nil {
		c = NewCursor(cs.client.Fetcher(in.Topic, int(in.Partition)).Sharing(cs.budget, cs.drop))
		c.budget = cs.budget
		cs.cursors[in] = c
	} else {
		cs.used = slices.DeleteFunc(cs.used, func(d *Cursor) bool { return d == c })
	}
	cs.used = append(cs.used, c)
	return c.Take(ctx, from, to, report)
}

// drop discards what the least recently used cursor has read ahead. It returns false if no cursor
// has anything.
func (cs *Cursors) drop() bool {
	for _, c := range cs.used {
		if c.held > 0 {
			c.drop()
			return true
		}
	}
	return false
}

// Close returns everything to the budget.
func (cs *Cursors) Close() {
	for cs.drop() {
	}
}
