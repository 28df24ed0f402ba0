package history

import (
	"math"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Where fields become columns, the model goes on without them: they have no weight, and what
// it has learned stays. Beside it, a second Learner begins with all columns, on the same rows.
// It predicts in the place of the first as soon as its losses are less. Both follow from the
// records alone, whichever way they were cut into BATCHes.

// adoption is fields that became columns.
type adoption struct {
	row       int // of the BATCH, the first with the columns
	was, now  int // number of columns
	names     []string
	renames   [][2]int // see decode.Decoder.Adopted
	topic     string
	partition int32
	from      int64 // offset
}

const (
	// firstTrial is the number of rows after which the two Learners are compared first, and
	// again at every doubling, on the rows since the comparison before. The first one includes
	// the warm-up of the second Learner, 1,000 rows, and about as many after it.
	firstTrial = 2048

	// lastTrial is the number of rows after which the model stays as it is.
	lastTrial = 1 << 20

	// surely is the number of standard errors by which the losses have to be less: by chance,
	// that happens to one comparison in 44.
	surely = 2
)

// trial is a Learner with columns that the model does not have.
type trial struct {
	learner *learner.Learner
	columns int
	rows    int64 // labelled rows that it has learned
	paired        // it with the model, on the rows since the last comparison

	renames []rename
}

// adopted is what a History has of columns that were adopted.
type adopted struct {
	config learner.Config

	columns int // of the model; 0 before its first row, and if it has all
	trial   *trial
	aliases []alias          // of the model
	former  learner.Progress // steps, rows and alarms of the models before, less those of Learner while it was a trial
	news    *event.Succeeded // of the last BATCH; nil for nothing
	renamed []schema.Alias   // likewise
}

func (d *Decided) adopts(it Item, was int, names []string, renames [][2]int) {
	d.adoptions = append(d.adoptions, adoption{row: d.Batch.Len(), was: was, now: was + len(names), names: names, renames: renames, topic: it.in.Topic, partition: it.in.Partition, from: it.Record.Offset + 1})
}

// report has the report of the BATCH name the columns that were adopted.
func (d *Decided) report(missing int) {
	for _, a := range d.adoptions {
		if d.Columns == nil {
			d.Columns = &event.Columns{Missing: missing}
		}
		d.Columns.Adopted = append(d.Columns.Adopted, a.names...)
	}
}

// view is rows of a BATCH as a model with fewer columns sees them.
type view struct {
	of, first *learner.Batch
	filled    int // aliases
}

func (v *view) rows(columns int, aliases []alias, from, to int) *learner.Batch {
	if columns == 0 || columns == v.of.Dim() {
		return v.of.Slice(from, to)
	}
	if v.first == nil || v.first.Dim() != columns || v.filled != len(aliases) {
		v.first, v.filled = v.of.First(columns), len(aliases)
		for _, a := range aliases {
			v.first.Fill(a.column, v.of, a.from)
		}
	}
	return v.first.Slice(from, to)
}

// adopt begins a trial where an adoption says so.
func (h *History) adopt(b *Decided, row int) {
	for _, a := range b.adoptions {
		if a.row != row {
			continue
		}
		if h.adopted.columns == 0 {
			h.adopted.columns = a.was
		}
		l, err := learner.New(h.adopted.config)
		if err != nil {
			panic(err) // it is the configuration of h.Learner
		}
		h.adopted.trial = &trial{learner: l, columns: a.now, renames: h.maybeRenamed(a.renames)}
	}
}

// width returns the number of columns that the model sees of a BATCH from a row on.
func (h *History) width(b *Decided, row int) int {
	if h.adopted.columns != 0 {
		return h.adopted.columns
	}
	for _, a := range b.adoptions {
		if a.row > row {
			return a.was
		}
	}
	return b.Batch.Dim()
}

// until returns the row before which the models of b stay the same from a row on.
func (h *History) until(b *Decided, from int) int {
	to := b.Batch.Len()
	for _, a := range b.adoptions {
		if a.row > from {
			to = min(to, a.row)
		}
	}
	if t := h.adopted.trial; t != nil {
		compares := len(t.renames) > 0 && t.rows >= firstLook
		if len(t.renames) > 0 {
			to = min(to, from+renamePass)
		}
		left := t.left()
		for i := from; i < to; i++ {
			if b.Batch.Label(i).Task == learner.Auto {
				continue
			}
			if left--; left == 0 || compares {
				return i + 1
			}
		}
	}
	return to
}

// left returns the number of rows until the next comparison.
func (t *trial) left() int64 {
	at := int64(firstTrial)
	for at <= t.rows {
		at *= 2
	}
	if len(t.renames) > 0 {
		at = min(at, nextLook(t.rows))
	}
	return at - t.rows
}

// losses returns the losses of the rows of a pass, NaN for none; nil if nothing is compared
// with them.
func (h *History) losses(pass *learner.PredictedBatch) []float64 {
	if h.adopted.trial == nil {
		return nil
	}
	out := make([]float64, pass.Len())
	for i := range out {
		loss, graded := pass.SharedLoss(i)
		if out[i] = loss; !graded {
			out[i] = math.NaN()
		}
	}
	return out
}

// try has the trial learn the rows of b that the model has predicted with the given losses. It
// reports whether the trial predicts from now on.
func (h *History) try(b *Decided, v *view, from int, losses []float64) bool {
	t := h.adopted.trial
	for at, to := from, from+len(losses); at < to; {
		pass := t.learner.Predict(v.rows(t.columns, nil, at, to))
		n := pass.Len()
		for i := range n {
			other := losses[at-from+i]
			if loss, graded := pass.SharedLoss(i); graded && other == other {
				t.compare(loss, other, b.Batch.Weight(at+i))
			}
		}
		t.rows += int64(t.learner.Learn(pass).Learned)
		at += n
	}
	if t.rows < firstTrial || t.rows&(t.rows-1) != 0 || t.compared == 0 {
		return false
	}
	mine, other := t.learner.Progress(), h.Learner.Progress()
	better := t.better() && mine.Warmup >= other.Warmup && t.learner.Classes() >= h.Learner.Classes()
	switch {
	case better:
		h.succeed(b, other)
	case t.rows >= lastTrial:
		h.adopted.trial = nil
	default:
		t.paired = paired{}
	}
	return better
}

// succeed has the trial predict in the place of the model, whose progress is given. The counts
// continue those of the model: what the trial has counted before is subtracted, and may be more.
func (h *History) succeed(b *Decided, p learner.Progress) {
	t, f := h.adopted.trial, &h.adopted.former
	own := t.learner.Progress()
	f.Examples += p.Examples - t.rows
	f.Step += p.Step - own.Step
	f.Drifts.ADWIN += p.Drifts.ADWIN - own.Drifts.ADWIN
	f.Drifts.PageHinkley += p.Drifts.PageHinkley - own.Drifts.PageHinkley
	t.learner.Succeed(h.Learner)
	h.adopted.news = &event.Succeeded{Rows: t.rows, Loss: t.loss, Other: t.loss - t.mean, Columns: b.Schema.Columns[h.adopted.columns:t.columns]}
	h.Learner, h.adopted.trial, h.adopted.columns, h.adopted.aliases = t.learner, nil, t.columns, nil
}

// Succeeded returns what has changed with the last BATCH about which model predicts; nil if
// nothing has.
func (h *History) Succeeded() *event.Succeeded { return h.adopted.news }

// Trial returns the columns that were adopted and that the model does not have yet.
func (h *History) Trial() []string {
	if h.adopted.trial == nil {
		return nil
	}
	return h.Schema.Columns[h.adopted.columns:]
}

// Progress returns the progressive validation of the predictions that were made.
func (h *History) Progress() learner.Progress {
	p, f := h.Learner.Progress(), &h.adopted.former
	p.Examples += f.Examples
	p.Step += f.Step
	p.Drifts.ADWIN += f.Drifts.ADWIN
	p.Drifts.PageHinkley += f.Drifts.PageHinkley
	return p
}

// served returns the schema of the model.
func (h *History) served() *decode.Schema { return h.servedOf(h.Schema) }

// servedOf returns the part of the schema of records that is that of the model.
func (h *History) servedOf(s *decode.Schema) *decode.Schema {
	if h.adopted.columns == 0 {
		return s
	}
	return h.aliased(s.First(h.adopted.columns), s)
}
