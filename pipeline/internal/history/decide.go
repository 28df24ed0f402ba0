package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Decided is a BATCH: its records in their order, each decoded or rejected. It is a
// function of the records, the configuration and the state of the decoder before it,
// so that a replay gives the same BATCH.
type Decided struct {
	Ranges       []modellog.Range
	fingerprints []uint64 // digest of the last record of each range; 0 without records
	Items        []Item
	Batch        learner.Batch
	Schema       *decode.Schema // after the last record
	Counts       modellog.Counts
	Columns      *event.Columns       // changes of the columns; nil if there are none
	Missing      []event.MissingShare // see event.Learned
	Misread      *event.Misread       // nil: nothing
	NewClasses   *event.NewClasses    // nil: none
	Schemas      []modellog.Schema    // schemas that the BATCH is the first to need
	Tables       []table.Changes      // changes that apply before the records
	WithoutRow   []int64              // number of records without a row, for each table
	Renames      []modellog.Rename    // declared renames
	Form         record.Form          // form of the predictions
	values       record.Values
	redact       *record.Redaction
	timeout      learner.Label // label for a missing one, if labels come late
	adoptions    []adoption
}

// Output returns what the model log says about the form of the predictions.
func (d *Decided) Output() *modellog.Output {
	if d.Form == (record.Form{}) {
		return nil
	}
	return &modellog.Output{Format: d.Form.Format, Schema: d.Form.ID}
}

// Item is one record of a BATCH.
type Item struct {
	in     *input.Partition
	Record *ingest.Record
	key    []byte // key of its prediction
	Err    error  // why it goes to quarantine; nil if it is the next row of the batch

	late      *record.Late // what joins the record with others; nil unless labels come late
	event     *join.Event  // the event of a row that waits for its label, or has waited
	predicted bool         // the row was predicted earlier, and nothing is published for it
}

// Decider turns spans into BATCHes. It owns the decoder. Every decided record advances
// the state of the decoder, so the order matters.
type Decider struct {
	Values record.Values     // what errors and samples may show of a record
	Redact *record.Redaction // what errors and samples must not show
	Form   record.Form       // form of the predictions of a new BATCH
	Robust bool              // the loss is one that few large labels do not dominate

	decoder *decode.Decoder
	keyed   bool // rows have keys
	absence absence
	fetched []modellog.Schema // schemas fetched since the last BATCH
	tables  *table.Tables     // nil without tables
	changed []table.Changes   // changes of tables since the last BATCH
	timeout learner.Label     // label for a missing one, if labels come late
	renames []modellog.Rename // declared renames; replaced, never modified
	looking bool              // the decoder looks at the first records of a new model
	settled bool              // the model has classes from before this Decider
}

// NewDecider returns a Decider that continues from the schema s. Its rows have keys if keyed is
// true, or if c names the field that has them.
func NewDecider(c decode.Config, keyed bool, s *decode.Schema) (*Decider, error) {
	d, err := decode.New(c, *s)
	if err != nil {
		return nil, err
	}
	out := &Decider{decoder: d, keyed: keyed || c.Key != "", renames: renames(d), looking: len(s.Columns) == 0, settled: len(s.Classes) > 0}
	if out.looking {
		d.Look()
	}
	if d.Late() != nil {
		if out.timeout, err = d.TimeoutLabel(); err != nil {
			return nil, fmt.Errorf("input.labels.on_timeout: %w", err)
		}
	}
	return out, nil
}

// mostFetched bounds the schemas in a record of the model log.
const mostFetched = 768 << 10

// Fetch fetches the schemas that the records need and the decoder does not know yet, for the next
// call of Decide.
func (d *Decider) Fetch(ctx context.Context, spans []input.Span, from record.Schemas, report func(error)) error {
	size := 0
	for _, sp := range spans {
		learned, err := record.Learn(ctx, d.decoder, sp.Records, from, report)
		for _, w := range learned {
			d.fetched = append(d.fetched, modellog.Schema(w))
			size += len(strconv.Quote(w.Text))
		}
		if err != nil {
			return err
		}
	}
	if size > mostFetched {
		return fmt.Errorf("%w: the records of one batch need more than %d KiB of new schemas: reduce input.batch.size", snapshot.ErrLimit, mostFetched>>10)
	}
	return nil
}

// know makes the schemas of a BATCH in the model log known to Decide.
func (d *Decider) know(all []modellog.Schema) {
	for _, s := range all {
		d.decoder.Learn(decode.Writer(s))
	}
}

// Decide decodes the records of spans. A record that is invalid has the reason in Item.Err.
func (d *Decider) Decide(spans []input.Span) *Decided {
	b := &Decided{values: d.Values, redact: d.Redact, Schemas: d.fetched, timeout: d.timeout, Form: d.Form, Tables: d.changed, Renames: d.renames}
	d.fetched, d.changed = nil, nil
	n := 0
	for _, sp := range spans {
		n += len(sp.Records)
	}
	b.Items, b.Ranges = make([]Item, 0, n), make([]modellog.Range, 0, len(spans))
	look, settled, known := false, d.settled || d.absence.rows >= settledRows, len(d.decoder.Schema().Classes)
	for in, r := range inOrder(spans, d.decoder.ByTime()) {
		it := Item{in: in, Record: r}
		if record.IsLabel(d.decoder, in.Topic, r) {
			b.Items = append(b.Items, d.label(b, it))
			continue
		}
		row, err := record.Decode(d.decoder, r)
		if err == nil && d.decoder.Late() != nil {
			err = it.joinedBy(d.decoder, row.Key)
		}
		if err != nil {
			it.Err = d.Redact.Reason(d.Values.Reason(err), r.Value)
			b.Counts.Quarantined++
		} else {
			it.key = row.Key
			d.add(b, it, row, n)
			look = d.absence.add(row.X) || look || d.absence.rows%absentRows == 0
		}
		b.Items = append(b.Items, it)
	}
	for _, sp := range spans {
		b.cover(sp)
	}
	b.WithoutRow = d.decoder.WithoutRow()
	b.NewClasses = d.newClasses(d.decoder.Schema().Classes[known:], settled)
	b.Schema = d.decoder.Schema()
	b.Batch.SetClasses(b.Schema.Classes)
	d.inform(b, look)
	return b
}

// add adds the row of an item to those of b, of which there will be at most n.
func (d *Decider) add(b *Decided, it Item, row decode.Row, n int) {
	if b.Batch.Len() == 0 {
		b.Batch.Reset(len(row.X))
		b.Batch.Grow(n)
	}
	if len(row.X) > b.Batch.Dim() {
		b.Batch.Widen(len(row.X))
	}
	row.AppendTo(&b.Batch)
	if d.keyed {
		b.Batch.SetKey(string(row.Key))
	}
	if names, renames := d.decoder.Adopted(); names != nil {
		b.adopts(it, len(row.X), names, renames)
	}
	if row.Label.Task == learner.Auto {
		b.Counts.Predicted++
	} else {
		b.Counts.Learned++
	}
}

// inform sets what b says about the columns so far: which are missing, misread, new or dropped. It
// looks at the missing ones for changes only if look is true.
func (d *Decider) inform(b *Decided, look bool) {
	b.Missing, b.Misread = d.absence.shares(b.Schema), d.misread(b.Schema)
	if look {
		b.Columns = d.absence.changes(b.Schema)
	}
	if n, name := d.decoder.Dropped(); n > 0 {
		if b.Columns == nil {
			b.Columns = &event.Columns{Missing: d.absence.n}
		}
		b.Columns.Dropped, b.Columns.Field, b.Columns.New = n, name, d.decoder.NewFields()
	}
	b.report(d.absence.n)
}

// settledRows is the number of records after which another class is worth a warning: by then a misspelt
// label is more likely than a class that had not come yet.
const settledRows = 1000

// newClasses returns what is to be reported of the classes that a BATCH has been the first to have, nil
// if there is nothing.
func (d *Decider) newClasses(names []string, settled bool) *event.NewClasses {
	if len(names) == 0 || !settled {
		return nil
	}
	n := &event.NewClasses{Number: len(names), Known: len(d.decoder.Schema().Classes)}
	if d.Redact == nil && cmp.Or(d.Values, record.ValuesFull) == record.ValuesFull {
		n.Names = slices.Clone(names)
	}
	return n
}

// misread returns what the first records look like, but are not read as, once they have been seen. It
// returns nil if there is nothing.
func (d *Decider) misread(s *decode.Schema) *event.Misread {
	if !d.looking || !d.decoder.Looked() {
		return nil
	}
	d.looking = false
	m := event.Misread{Classes: d.decoder.LikeClasses()}
	if !d.Robust {
		m.LongTail = d.decoder.LongTail()
	}
	for _, f := range s.Fields() {
		if f.Type == learner.CategoryColumn.String() && d.decoder.IsText(f.Name) {
			m.Texts = append(m.Texts, f.Name)
		}
	}
	if m.Texts == nil && m.Classes == 0 && m.LongTail == 0 {
		return nil
	}
	return &m
}

// Resume continues from the absent columns in the model log: the next BATCHes report only changes
// since then. Columns that are gone in the log stay gone until they have a value. Resume returns
// their number.
func (d *Decider) Resume(was modellog.AbsentColumns) int {
	d.decoder.KnowFields(was.New)
	return d.absence.resume(d.decoder.Schema(), was.Gone)
}

// Journaled returns the part of Columns that belongs in the model log.
func (d *Decided) Journaled() *modellog.Columns {
	if d.Columns == nil {
		return nil
	}
	short := func(names []string) (out []string) {
		for _, name := range names {
			if len(name) <= modellog.MaxName && len(out) < modellog.MaxNames {
				out = append(out, name)
			}
		}
		return out
	}
	c := d.Columns
	out := &modellog.Columns{Gone: short(c.Gone), Back: short(c.Back), New: short(c.New), Dropped: c.Dropped}
	for _, a := range d.adoptions {
		if names := short(a.names); len(names) > 0 && len(out.Adopted) < modellog.MaxNames {
			out.Adopted = append(out.Adopted, modellog.NewColumns{Topic: a.topic, Partition: a.partition, From: a.from, Columns: names})
		}
	}
	return out
}

// Traces returns the traces of the first records that have one.
func (d *Decided) Traces() (all []record.Trace) {
	for _, it := range d.Items {
		all = record.AddTrace(all, it.in.Topic, it.Record)
	}
	return all
}

// sampleBytes bounds event.Bad.Sample.
const sampleBytes = 256

// Bad describes the records that go to quarantine, by partition.
func (d *Decided) Bad() (all []event.Bad) {
	for _, it := range d.Items {
		if it.Err == nil {
			continue
		}
		n := len(all) - 1
		if n < 0 || all[n].Topic != it.in.Topic || all[n].Partition != it.in.Partition {
			var sample []byte
			if cmp.Or(d.values, record.ValuesFull) == record.ValuesFull {
				v := d.redact.Sample(it.Record.Value)
				sample = slices.Clone(v[:min(len(v), sampleBytes)])
			}
			all, n = append(all, event.Bad{Topic: it.in.Topic, Partition: it.in.Partition, First: it.Record.Offset, Err: it.Err, Sample: sample}), n+1
		}
		all[n].Last = it.Record.Offset
		all[n].Records++
	}
	return all
}
