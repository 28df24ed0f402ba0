package serve

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/table"
)

// rowsOf holds the rows of the tables with some options. Models with equal options share them.
type rowsOf struct {
	configs []string
	*enrich.Rows
}

// enrich gives m the rows of its tables, for enriching records. Unless another model has the
// same rows already, enrich reads the topics of the tables and returns once it has reached
// their current end.
func (s *Scorer) enrich(ctx context.Context, m *Served) error {
	if s.share(m) {
		return nil
	}
	alone, _ := s.loading.LoadOrStore(strings.Join(tablesOf(m), "\n"), new(sync.Mutex))
	alone.(*sync.Mutex).Lock()
	defer alone.(*sync.Mutex).Unlock()
	if s.share(m) { // another model has read them in the meantime
		return nil
	}
	rows := enrich.NewRows(enrich.Config{
		Client: s.config.Client, MaxBytes: m.Decode.MaxBytes,
		Retrying: func(err error) { s.config.Report(Retrying{Err: err}) },
		Rejected: func(r enrich.Rejected) { s.config.Report(TableRejected{r}) },
		Missing:  func(m enrich.Missing) { s.config.Report(TableMissing{m}) },
	}, m.Decode.Tables)
	rows.Applied = func(now []table.Status, lags []int64) { s.config.Report(Enriched{rows, now, lags}) }
	if err := rows.Open(ctx); err != nil {
		return err
	}
	ready, read := context.WithCancel(ctx)
	s.reading.Go(func() { rows.Run(ctx, read) })
	<-ready.Done()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.enriching.Lock() // only now, so that reading the tables of a canary does not delay those of the model
	defer s.enriching.Unlock()
	s.rows, m.rows = append(s.rows, rowsOf{tablesOf(m), rows}), rows
	return nil
}

// share gives m the rows of another model with equal tables. It reports whether m now has all
// rows that it needs.
func (s *Scorer) share(m *Served) bool {
	if len(m.Decode.Tables) == 0 {
		return true
	}
	s.enriching.Lock()
	defer s.enriching.Unlock()
	for _, r := range s.rows {
		if slices.Equal(r.configs, tablesOf(m)) {
			m.rows = r.Rows
			return true
		}
	}
	return false
}

// tablesOf returns the options of the tables of a model.
func tablesOf(m *Served) (configs []string) {
	for _, c := range m.Decode.Tables {
		configs = append(configs, c.String())
	}
	return configs
}
