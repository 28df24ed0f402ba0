package enrich

import (
	"context"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest/table"
)

// Rows are tables that follow their topics, for those who serve a model. They may be used
// concurrently.
type Rows struct {
	config Config
	mu     sync.RWMutex
	tables *table.Tables
	reader *Reader

	// Applied, if not nil, is called after changes were applied, with the number of offsets of
	// each table that were not.
	Applied func(now []table.Status, lags []int64)
}

// NewRows returns Rows that were not read yet.
func NewRows(c Config, all []table.Config) *Rows {
	return &Rows{config: c, tables: table.New(all)}
}

// Tables returns the tables, which must be used while f of Reading runs alone.
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

// Run applies changes until ctx is done, from Open on. It calls ready once it has applied what
// the topics had at the time of Open. After an error it opens the topics again, and the rows stay
// as they are meanwhile.
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
		wait := r.reader.Wait // which ends without changes if those to come were truncated
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
