package history

import (
	"encoding/json"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// The rows of tables are part of the history. Because the topics of tables are compacted, the model
// log has every change of the rows, and a snapshot has all of the rows. The Decider has a copy of
// its own, because it is ahead of the History by the BATCHes that are decided and not yet learned.

// newTables returns the empty tables of a model with these options, nil if it has none.
func newTables(options []byte) *table.Tables {
	in, err := record.ReadOptions(options)
	if err != nil {
		return nil
	}
	return table.New(in.Tables)
}

// Tables returns the tables as of the last BATCH that was learned, nil if there are none. The
// caller must not change them.
func (h *History) Tables() *table.Tables { return h.tables }

// Enrich makes d enrich records with the tables of h, beginning after the last BATCH that h has
// learned.
func (d *Decider) Enrich(h *History) {
	if d.tables = h.tables.Clone(); d.tables != nil {
		d.decoder.SetTables(d.tables)
	}
}

// Change applies changes of the tables before the next BATCH.
func (d *Decider) Change(changes []table.Changes) error {
	if err := d.tables.Check(changes); err != nil {
		return err
	}
	d.tables.Apply(changes)
	d.changed = append(d.changed, changes...)
	return nil
}

// JournaledTables returns the changes of tables in the form of the model log.
func (d *Decided) JournaledTables() (all []modellog.TableChanges) {
	for _, c := range d.Tables {
		out := modellog.TableChanges{Table: c.Table, TopicID: c.TopicID, Partition: c.Partition, From: c.From, To: c.To, Rejected: c.Rejected}
		for _, r := range c.Rows {
			out.Rows = append(out.Rows, modellog.TableRow{Key: r.Key, Values: json.RawMessage(r.Values)})
		}
		all = append(all, out)
	}
	return all
}

// tableChanges returns the changes of a BATCH in the model log.
func tableChanges(b *modellog.Batch) (all []table.Changes) {
	for _, c := range b.Tables {
		out := table.Changes{Table: c.Table, TopicID: c.TopicID, Partition: c.Partition, From: c.From, To: c.To, Rejected: c.Rejected}
		for _, r := range c.Rows {
			out.Rows = append(out.Rows, table.Row{Key: r.Key, Values: string(r.Values)})
		}
		all = append(all, out)
	}
	return all
}

// thawTables restores the tables that Freeze has saved.
func (h *History) thawTables(arrays []learner.Array) error {
	in, err := record.ReadOptions(h.options)
	if err != nil && len(arrays) > 0 {
		return err
	}
	h.tables, err = table.Restore(in.Tables, arrays)
	return err
}
