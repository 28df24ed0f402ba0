package history

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
)

// If labels come later than their rows, a BATCH is joined before it is learned. A record with
// features becomes a row without a label. Its prediction is published, and its values and the
// prediction wait in the Join. The label that belongs to it later becomes a row with the same
// values. Nothing is published for that row, and it is graded by the prediction that waited.

// label decodes a record that has only a label.
func (d *Decider) label(b *Decided, it Item) Item {
	late, err := record.DecodeLabel(d.decoder, it.Record)
	if err != nil {
		it.Err = d.Redact.Reason(d.Values.Reason(err), it.Record.Value)
		b.Counts.Quarantined++
		return it
	}
	it.late = &late
	late.Of.More = slices.Clone(late.Of.More)
	b.Counts.Labels++
	return it
}

// joinedBy sets what joins the record with others: keys and time.
func (it *Item) joinedBy(d *decode.Decoder, key []byte) error {
	late, err := record.Joined(d, it.Record, key)
	it.late = &late
	return err
}

// newJoin returns the Join of a model with these options, nil if it has none.
func newJoin(options []byte) *join.Join {
	if in, err := record.ReadOptions(options); err == nil && in.Late != nil {
		return join.New(*in.Late)
	}
	return nil
}

// Late returns the status of the rows and labels that wait for each other, or false if labels come
// with their rows.
func (h *History) Late() (join.Status, bool) {
	if h.join == nil {
		return join.Status{}, false
	}
	return h.join.Status(), true
}

// Joined returns the number of rows of the last BATCH that were learned with the label of another
// record, or with the label for a missing one.
func (h *History) Joined() int64 { return h.late }

// Refused returns the number of labels of the last BATCH that the join refused, and that went to
// quarantine: they came too late, or their features had a label already.
func (h *History) Refused() int64 { return h.bad }

// joined returns b after the join: with an item for each row, and one for each record that goes to
// quarantine.
func (h *History) joined(b *Decided) *Decided {
	h.join.SetTimeout(b.timeout)
	h.late, h.bad = 0, 0
	j := joining{History: h, in: b, out: *b}
	j.out.Items, j.out.Batch = make([]Item, 0, len(b.Items)), learner.Batch{}
	j.out.Batch.Reset(len(b.Schema.Columns))
	j.out.Batch.Grow(len(b.Items))
	j.merge()
	if types, err := b.Schema.ColumnTypes(); err == nil { // no error occurs for a schema of a decoder
		j.out.Batch.SetTypes(types)
	}
	j.out.Batch.SetClasses(b.Schema.Classes)
	return &j.out
}

// joining turns a BATCH into the BATCH after the join.
type joining struct {
	*History
	in  *Decided
	out Decided
}

// merge adds the records of all partitions in the order of their times. The records of one
// partition stay in their order, so that the outcome for a single partition does not depend on
// where BATCHes end.
func (j *joining) merge() {
	type run struct {
		items []Item
		row   int // row of the first item that is one
	}
	var runs []run
	rest, row := j.in.Items, 0
	for _, r := range j.in.Ranges {
		runs = append(runs, run{rest[:r.Records], row})
		for _, it := range rest[:r.Records] {
			if it.isRow() {
				row++
			}
		}
		rest = rest[r.Records:]
	}
	for range j.in.Items {
		first, earliest := -1, int64(0)
		for i := range runs {
			if len(runs[i].items) == 0 {
				continue
			}
			at := int64(math.MinInt64)
			if it := &runs[i].items[0]; it.Err == nil {
				at = it.late.Time
			}
			if first < 0 || at < earliest {
				first, earliest = i, at
			}
		}
		r := &runs[first]
		it := r.items[0]
		j.add(it, r.row)
		r.items = r.items[1:]
		if it.isRow() {
			r.row++
		}
	}
}

// isRow reports whether a decided record is a row.
func (it *Item) isRow() bool { return it.Err == nil && !it.late.Only }

// add adds a record. If it is a row, row is its index in the BATCH.
func (j *joining) add(it Item, row int) {
	if it.Err != nil {
		j.out.Items = append(j.out.Items, it)
		return
	}
	for _, x := range j.join.Advance(it.late.Time) {
		j.learn(Item{}, x.Event, x.Label)
	}
	if it.late.Only {
		e, kind := j.join.Label(it.late.Key, it.late.Time, it.late.Of)
		switch {
		case e != nil:
			j.learn(it, e, it.late.Of)
		case kind != "" && j.join.Rejects(kind):
			j.bad++
			it.Err = j.in.values.Reason(fmt.Errorf("label: %s", reasons[kind]))
			j.out.Items = append(j.out.Items, it)
		}
		return
	}
	batch := &j.in.Batch
	x, y, weight, key := batch.X(row), batch.Label(row), batch.Weight(row), batch.Key(row)
	if y.Task != learner.Auto {
		j.join.Labelled(it.late.Key, it.late.Time, y)
		j.append(it, x, y, weight, key, it.late.Time)
		return
	}
	e := &join.Event{Key: key, X: slices.Clone(x), Weight: weight, Time: it.late.Time}
	label, repeated := j.join.Features(it.late.Key, e)
	if !repeated {
		it.event = e
	}
	j.append(it, x, y, weight, key, it.late.Time)
	if label.Task != learner.Auto {
		j.learn(it, e, label)
	}
}

var reasons = map[string]string{
	join.LateLabel:          "it came later than input.labels.ttl after its features",
	join.DuplicateLabel:     "its features have the same label already",
	join.ContradictingLabel: "its features have another label already, which counts",
}

// learn adds the row of an event with its label.
func (j *joining) learn(it Item, e *join.Event, y learner.Label) {
	it.event, it.predicted = e, true
	j.late++
	j.append(it, e.X, y, e.Weight, e.Key, e.Time)
}

// append adds a row with the time of its features, in milliseconds.
func (j *joining) append(it Item, x []float64, y learner.Label, weight float64, key string, time int64) {
	j.out.Batch.Append(x, y, weight)
	j.out.Batch.SetKey(key)
	j.out.Batch.SetTime(float64(time) / 1000)
	j.out.Items = append(j.out.Items, it)
}

// keep handles the predictions of a join. It replaces the predictions of the rows of a pass that
// were predicted earlier with those made then, and stores the predictions of the rows that wait for
// their label. items begins with the item of the first row.
func (h *History) keep(b *Decided, rows *learner.Batch, pass *learner.PredictedBatch, items []Item) {
	if h.join == nil {
		return
	}
	h.useEncoder(b)
	for i := range pass.Len() {
		for items[0].Err != nil {
			items = items[1:]
		}
		it := items[0]
		items = items[1:]
		switch {
		case it.predicted:
			rows.SetKept(i, it.event.Kept)
		case it.event != nil:
			it.event.Class = -1
			if pass.Task == learner.Classification && pass.Size > 0 {
				it.event.Class = h.encoder.Class(pass.Decision, pass.Row(i))
			}
			it.event.Kept = h.Learner.Keep(pass, i)
		}
	}
}

// grade measures the prediction of a row with a label, and advances the chain over the labelled
// rows.
func (h *History) grade(b *Decided, at, i int, pass *learner.PredictedBatch, it Item) {
	y, weight := b.Batch.Label(at), b.Batch.Weight(at)
	of, row := pass.Graded(i)
	if it.predicted && h.Settled != nil {
		h.settle(it, pass, i, y, weight)
	}
	if y.Task == learner.Classification {
		class := -1
		if it.predicted {
			class = it.event.Class
		}
		h.measure(of, row, class, y.Class, weight)
	} else if _, graded := pass.Loss(i); graded {
		h.Numbers.AddRow(of, row, y, weight)
		h.Expected.grade(of, row, -1, false)
	}
	if it.Record != nil {
		h.advance(it)
		return
	}
	s := binary.LittleEndian.AppendUint64(append(append(h.scratch[:0], "timeout\x00"...), h.rows[:]...), uint64(it.event.Time))
	h.rows, h.scratch = sha256.Sum256(append(s, it.event.Key...)), s
}

// thawJoin restores the Join that Freeze has saved.
func (h *History) thawJoin(arrays []learner.Array) error {
	in, err := record.ReadOptions(h.options)
	if err != nil || in.Late == nil {
		if len(arrays) > 0 {
			return fmt.Errorf("join: the options of the model have no input.labels")
		}
		return nil
	}
	h.join, err = join.Restore(*in.Late, arrays, join.Checks{
		Inputs: len(h.Schema.Columns), Classes: len(h.Schema.Classes), Kept: h.Learner.CheckKept,
		Label: func(y learner.Label) error { return h.checkLabel(y, max(1, len(in.Labels))) },
	})
	return err
}

// checkLabel returns an error for a label that no decoder with the schema of h and this number of
// targets returns.
func (h *History) checkLabel(y learner.Label, targets int) error {
	if task := y.Task.String(); task != h.Schema.Task || y.Task == learner.Classification && y.Class >= len(h.Schema.Classes) || y.Targets() != targets {
		return fmt.Errorf("join: a label of task %s, class %d and %d targets, want %s, one of %d and %d", task, y.Class, y.Targets(), h.Schema.Task, len(h.Schema.Classes), targets)
	}
	return nil
}
