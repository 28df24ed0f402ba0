package enrich

import (
	"context"
	"sync"

	"github.com/accrete-ml/accrete/ingest/table"
)

// Load returns tables with the current contents of their topics.
func Load(ctx context.Context, c Config, all []table.Config) (*table.Tables, error) {
	tables := table.New(all)
	r, err := Open(ctx, c, tables)
	if err != nil {
		return nil, err
	}
	reading, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	ended.Go(func() { r.Run(reading) })
	for !r.CaughtUp() {
		if err := r.Wait(ctx); err != nil {
			return nil, err
		}
		changes := r.Take(aheadBytes)
		if err := tables.Check(changes); err != nil {
			return nil, err
		}
		tables.Apply(changes)
	}
	return tables, nil
}
