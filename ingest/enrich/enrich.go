// Package enrich reads the topics of tables. Their rows are used to enrich records.
package enrich

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/table"
)

// Config configures a Reader.
type Config struct {
	Client   *ingest.Client
	MaxBytes int // maximum size of a record

	Retrying func(error)    // called with errors that are retried
	Rejected func(Rejected) // called with records that are not valid rows
	Missing  func(Missing)  // called when the topic of a table is found to be missing, and when it is back

	every time.Duration // interval between checks for added partitions; 0: partitionsEvery
}

// Missing reports whether the topic of a table is missing, although the Reader has read it before.
type Missing struct {
	Topic string
	Yes   bool
}

// Rejected describes records of one partition that are not valid rows.
type Rejected struct {
	Topic     string
	Partition int32
	Offset    int64 // of the first such record
	Records   int64
	Err       error // of the first such record
}

// ErrTopic means that the topic of a table does not exist.
var ErrTopic = errors.New("table cannot be read")

// ErrRenewed means that the topic of a table was deleted and created again.
var ErrRenewed = errors.New("deleted and created again while it was read")

// Reader reads the topics of tables as they grow, and queues a bounded number of changes
// until they are taken.
type Reader struct {
	config Config
	budget *ingest.Budget
	topics []*topic

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change of the fields below
	queue   []piece
	size    int // bytes in queue
	err     error
}

// topic is the topic of a table.
type topic struct {
	of    *table.Config
	id    [16]byte
	parts []*part
}

// part is a partition of a topic.
type part struct {
	*topic
	number int32
	next   int64 // first offset that was not read; owned by the goroutine that reads the partition
	end    int64 // end of the partition when the Reader was opened, or a lower end since; guarded by Reader.mu
	taken  int64 // first offset that was not taken; guarded by Reader.mu
	last   int64 // end of the partition in the last response; guarded by Reader.mu
}

// piece is a part of the changes that were read from a partition.
type piece struct {
	*part
	table.Changes
	size int
}

const (
	pieceBytes = 32 << 10 // size at which a piece is complete
	aheadBytes = 1 << 20  // size of the queue at which reading pauses
	fetchBytes = 8 << 20  // memory budget for responses

	partitionsEvery = 5 * time.Second // interval between checks for added partitions
)

// Open returns a Reader that continues where the tables end. If a topic was deleted and created
// again since the table was read, it is read from its beginning.
func Open(ctx context.Context, c Config, tables *table.Tables) (*Reader, error) {
	r := &Reader{config: c, budget: ingest.NewBudget(fetchBytes), changed: make(chan struct{})}
	for _, t := range tables.All {
		to := &topic{of: t.Config()}
		var first, end []int64
		var missing error
		err := ingest.Retry(ctx, c.Retrying, func() (err error) {
			if to.id, _, err = c.Client.Partitions(ctx, to.of.Topic); err == nil {
				first, end, err = c.Client.Offsets(ctx, to.of.Topic)
			}
			if errors.Is(err, ingest.ErrUnknownTopic) {
				missing, err = fmt.Errorf("%w: the topic %q does not exist: create it, or correct input.tables", ErrTopic, to.of.Topic), nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if missing != nil {
			return nil, missing
		}
		for i := range first {
			p := &part{topic: to, number: int32(i), end: end[i]}
			if was, next := t.Next(p.number); was == to.id {
				p.next = next
			}
			if p.next > end[i] { // if p.next is before first[i], follow handles the deleted records
				p.next = first[i] // truncated: read the remaining records again
				r.position(p)     // even if there are none
			}
			p.taken, p.last = p.next, p.end
			to.parts = append(to.parts, p)
		}
		if was, _ := t.Next(0); was != to.id && was != ([16]byte{}) && len(to.parts) > 0 { // the rows of the old topic are deleted, even if the new topic has no rows
			r.position(to.parts[0])
		}
		r.topics = append(r.topics, to)
	}
	return r, nil
}

// position queues a change without rows, which tells the table at which offset of p it
// continues.
func (r *Reader) position(p *part) {
	r.queue = append(r.queue, piece{part: p, size: 128, Changes: table.Changes{Table: p.of.Name(), TopicID: p.id, Partition: p.number, From: p.next, To: p.next}})
	r.size += 128
}

// Run reads until ctx is done.
func (r *Reader) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, t := range r.topics {
		for _, p := range t.parts {
			g.Go(func() error { return r.follow(ctx, p) })
		}
		g.Go(func() error { return r.discover(ctx, g, t) })
	}
	err := g.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil {
		r.set(func() { r.err = err })
	}
	return err
}

// set changes the shared fields and wakes all waiting goroutines.
func (r *Reader) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// wait waits until ok returns true. It calls ok with the lock held.
func (r *Reader) wait(ctx context.Context, ok func() bool) error {
	for {
		r.mu.Lock()
		done, err, changed := ok(), r.err, r.changed
		r.mu.Unlock()
		if done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Take removes queued changes and returns them, up to most bytes but at least one piece. It does
// not wait.
func (r *Reader) Take(most int) (changes []table.Changes) {
	r.mu.Lock()
	n, size := 0, 0
	for n < len(r.queue) && (n == 0 || size+r.queue[n].size <= most) {
		size += r.queue[n].size
		n++
	}
	took := r.queue[:n]
	r.mu.Unlock()
	if n == 0 {
		return nil
	}
	r.set(func() {
		for _, p := range took {
			changes = append(changes, p.Changes)
			p.taken = p.To
		}
		r.queue, r.size = r.queue[n:], r.size-size
	})
	return changes
}

// Pending returns the size in bytes of the changes that were not taken yet.
func (r *Reader) Pending() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// CaughtUp reports whether all changes were taken that the topics had when the Reader was opened.
func (r *Reader) CaughtUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.caughtUp()
}

func (r *Reader) caughtUp() bool {
	for _, t := range r.topics {
		for _, p := range t.parts {
			if p.taken < p.end {
				return false
			}
		}
	}
	return true
}

// Wait waits until there are changes to take, or until CaughtUp is true.
func (r *Reader) Wait(ctx context.Context) error {
	return r.wait(ctx, func() bool { return len(r.queue) > 0 || r.caughtUp() })
}

// WaitMore waits until there are changes to take.
func (r *Reader) WaitMore(ctx context.Context) error {
	return r.wait(ctx, func() bool { return len(r.queue) > 0 })
}

// Lag returns, for each table, the number of offsets that were not taken yet.
func (r *Reader) Lag() (lags []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.topics {
		n := int64(0)
		for _, p := range t.parts {
			n += max(0, p.last-p.taken)
		}
		lags = append(lags, n)
	}
	return lags
}
