package lint

import (
	"context"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/enrich"
)

// table checks the topic of a table.
func (o *cluster) table(ctx context.Context, c *decode.Table) error {
	t, err := o.client.Topic(ctx, c.Topic)
	if err != nil {
		return o.problem(ctx, err)
	}
	may, err := o.client.Allowed(ctx, c.Topic)
	if err != nil {
		return o.problem(ctx, err)
	}
	if may.Known && !may.Read {
		return o.say("problem", "reading topic %s, of a table, is denied: grant it with kafka-acls --add --operation Read --topic %s", c.Topic, c.Topic)
	}
	if t.Hidden == nil && !strings.Contains(t.CleanupPolicy, "compact") {
		return o.say("warning", "topic %s, of a table: cleanup.policy=%s, so that rows are gone for scorers and new models after its retention; want compact", c.Topic, t.CleanupPolicy)
	}
	return o.say("ok", "topic %s, of a table: %s", c.Topic, display.Count(int64(t.Partitions), "partition"))
}

// enrich makes d enrich the sample with the current rows of the tables, and reports on these
// tables.
func (o *cluster) enrich(ctx context.Context, d *decode.Decoder, c *decode.Config) error {
	e, err := c.Effective()
	if err != nil || e.Tables == nil {
		return err
	}
	tables, err := enrich.Load(ctx, enrich.Config{
		Client: o.client, MaxBytes: e.MaxBytes, Retrying: func(err error) { o.e.WarnOfRetry(err) },
		Rejected: func(enrich.Rejected) {}, // the tables count them
		Missing:  func(enrich.Missing) {},
	}, e.Tables)
	if err != nil {
		return err
	}
	d.SetTables(tables)
	for _, s := range tables.Status() {
		status, note := "ok", ""
		if s.Rejected > 0 {
			status, note = "warning", ", and "+display.Thousands(s.Rejected)+" records that are no rows"
		}
		if s.Evicted > 0 {
			status, note = "warning", note+", and "+display.Thousands(s.Evicted)+" more than its option rows allows"
		}
		if err := o.say(status, "table %s: %s rows%s", s.Name, display.Thousands(int64(s.Rows)), note); err != nil {
			return err
		}
	}
	return nil
}
