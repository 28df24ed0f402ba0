package enrich

import (
	"context"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest/table"
)

// Rows holds tables that follow their topics, for a process that serves a model. It is safe for
// concurrent use.
type Rows struct {
	config Config
	mu     sync.RWMutex
	tables *table.Tables
	reader *Reader

	// Applied, if not nil, is called after changes were applied. lags is the number of offsets
	// of each table that are not applied yet.
	Applied func(now []table.Status, lags []int64)
}

// NewRows returns Rows with empty tables.
func NewRows(c Config, all []table.Config) *Rows {
	return &Rows{config: c, tables: table.New(all)}
}

// Tables returns the tables. They must only be used inside a function that is passed to Reading.
func (r *Rows) Tables() *table.Tables { return r.tables }

// Reading calls f while the rows do not change.
func (r *Rows) Reading(f func()) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	f()
}

// Open prepares to read the topics.
func (r *Rows) Open(ctx context.Context) (err error) {
	r.reader, err = Open(ctx, r.config, r.tables)
	return err
}

// reopenAfter is how long Run waits after an error.
const reopenAfter = 2 * time.Second

// Run applies changes after Open, until ctx is done. It calls ready, possibly more than once,
// when it has applied all changes that the topics had at the time of Open. After an error it
// opens the topics again; in the meantime, the rows stay unchanged.
func (r *Rows) Run(ctx context.Context, ready func()) {
	for {
		err := r.run(ctx, ready)
		for err != nil && ctx.Err() == nil {
			r.config.Retrying(err)
			select {
			case <-time.After(reopenAfter):
			case <-ctx.Done():
			}
			err = r.Open(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		for _, t := range r.tables.All { // it was opened again
			r.config.Missing(Missing{Topic: t.Config().Topic})
		}
	}
}

// run reads and applies until ctx is done or there is an error.
func (r *Rows) run(ctx context.Context, ready func()) error {
	reading, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	ended.Go(func() { r.reader.Run(reading) })
	for {
		wait := r.reader.Wait // may end without changes, if those that were expected were truncated
		if r.reader.CaughtUp() {
			ready()
			wait = r.reader.WaitMore
		}
		if err := wait(ctx); err != nil {
			return err
		}
		changes := r.reader.Take(aheadBytes)
		if err := r.tables.Check(changes); err != nil {
			return err
		}
		r.mu.Lock()
		r.tables.Apply(changes)
		status := r.tables.Status()
		r.mu.Unlock()
		if r.Applied != nil {
			r.Applied(status, r.reader.Lag())
		}
	}
}
