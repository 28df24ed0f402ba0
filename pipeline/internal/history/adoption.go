package history

import (
	"math"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// If fields become columns, the model continues without them, and keeps what it has learned. A
// trial begins beside it: a second Learner with all columns, which learns the same rows. As soon as
// its losses are less, it replaces the model. All of this follows from the records alone, however
// they were divided into BATCHes.

// adoption describes fields that became columns.
type adoption struct {
	row       int // first row of the BATCH with the columns
	was, now  int // number of columns before and after
	names     []string
	renames   [][2]int // see decode.Decoder.Adopted
	topic     string
	partition int32
	from      int64 // offset
}

const (
	// firstTrial is the number of rows after which the two Learners are compared for the first
	// time. They are compared again at every doubling, each time on the rows since the comparison
	// before. The first comparison includes the warm-up of the trial, 1,000 rows, and about as many
	// rows after it.
	firstTrial = 2048

	// lastTrial is the number of rows after which the trial ends and the model stays as it is.
	lastTrial = 1 << 20

	// surely is the number of standard errors by which the losses have to be less. By chance, this
	// happens in one comparison of 44.
	surely = 2
)

// trial is a Learner with columns that the model does not have.
type trial struct {
	learner *learner.Learner
	columns int
	rows    int64 // labelled rows that the trial has learned
	paired        // compares the trial with the model, on the rows since the last comparison

	renames []rename
}

// adopted is the state of a History about adopted columns.
type adopted struct {
	config learner.Config

	columns int // columns of the model; 0 before its first row, and if it has all
	trial   *trial
	aliases []alias // aliases of the model
	// former has the steps, rows and alarms of the models before, less those that Learner had while
	// it was a trial.
	former  learner.Progress
	news    *event.Succeeded // change with the last BATCH; nil: none
	renamed []schema.Alias   // aliases new with the last BATCH; nil: none
}

func (d *Decided) adopts(it Item, was int, names []string, renames [][2]int) {
	d.adoptions = append(d.adoptions, adoption{row: d.Batch.Len(), was: was, now: was + len(names), names: names, renames: renames, topic: it.in.Topic, partition: it.in.Partition, from: it.Record.Offset + 1})
}

// report adds the adopted columns to what the BATCH reports.
func (d *Decided) report(missing int) {
	for _, a := range d.adoptions {
		if d.Columns == nil {
			d.Columns = &event.Columns{Missing: missing}
		}
		d.Columns.Adopted = append(d.Columns.Adopted, a.names...)
	}
}

// view shows the rows of a BATCH as a model with fewer columns sees them.
type view struct {
	of, first *learner.Batch
	filled    int // number of aliases applied to first
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

// adopt begins a trial if columns are adopted at this row of b.
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
			panic(err) // h.Learner has the same configuration
		}
		h.adopted.trial = &trial{learner: l, columns: a.now, renames: h.maybeRenamed(a.renames)}
	}
}

// width returns the number of columns that the model sees in the rows of a BATCH from the given one
// on.
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

// until returns the end of the next pass over b, which begins at row from: the next row at which
// columns are adopted or models are compared, or the end of b.
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

// left returns the number of labelled rows until the next comparison.
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

// losses returns the losses of the rows of a pass, NaN for rows without one. It returns nil if
// there is no trial to compare with.
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

// try makes the trial learn the rows of b that the model has predicted with the given losses, and
// compares the two if it is time. It reports whether the trial has replaced the model.
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

// succeed replaces the model, whose progress is p, with the trial. The counts continue from those
// of the model: the counts that the trial already has are subtracted from them, so that a
// difference may be negative.
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

// Succeeded reports the replacement of the model with the last BATCH; nil if there was none.
func (h *History) Succeeded() *event.Succeeded { return h.adopted.news }

// Trial returns the adopted columns that the model does not have yet.
func (h *History) Trial() []string {
	if h.adopted.trial == nil {
		return nil
	}
	return h.Schema.Columns[h.adopted.columns:]
}

// Progress returns the progressive validation over all models of the history.
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

// servedOf returns the schema of the model, which is part of the schema s of the records.
func (h *History) servedOf(s *decode.Schema) *decode.Schema {
	if h.adopted.columns == 0 {
		return s
	}
	return h.aliased(s.First(h.adopted.columns), s)
}
