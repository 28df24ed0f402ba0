package serve

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/table"
)

// rowsOf are the rows of tables that some models have.
type rowsOf struct {
	configs []string
	*enrich.Rows
}

// enrich has m enrich records with the rows of its tables. It waits until they are read up to
// the present end of their topics, unless another model has them already.
func (s *Scorer) enrich(ctx context.Context, m *Served) error {
	if len(m.Decode.Tables) == 0 {
		return nil
	}
	var configs []string
	for _, c := range m.Decode.Tables {
		configs = append(configs, c.String())
	}
	s.enriching.Lock()
	defer s.enriching.Unlock()
	for _, r := range s.rows {
		if slices.Equal(r.configs, configs) {
			m.rows = r.Rows
			return nil
		}
	}
	rows := enrich.NewRows(enrich.Config{
		Client: s.config.Client, MaxBytes: m.Decode.MaxBytes,
		Retrying: func(err error) { s.config.Report(Retrying{err}) },
		Rejected: func(r enrich.Rejected) { s.config.Report(TableRejected{r}) },
	}, m.Decode.Tables)
	rows.Applied = func(now []table.Status, lags []int64) { s.config.Report(Enriched{now, lags}) }
	if err := rows.Open(ctx); err != nil {
		return err
	}
	ready, read := context.WithCancel(ctx)
	s.reading.Go(func() { rows.Run(ctx, read) })
	<-ready.Done()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.rows, m.rows = append(s.rows, rowsOf{configs, rows}), rows
	return nil
}
