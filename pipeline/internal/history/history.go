// Package history is the part of a learner that a replay has to reproduce, bit for bit: which row
// each record becomes, what is predicted for it, and what is learned from it.
package history

import (
	"crypto/sha256"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
)

// History is a model together with the state that its BATCHes, learned in order, have led to.
// Learning, replay and verification all use the method Learn and so reach the same state, bit for
// bit.
type History struct {
	name    string
	options []byte // configuration in the model log
	Learner *learner.Learner
	Schema  *decode.Schema

	Seq     int64
	Chain   [32]byte // chain of the decisions, as of Seq
	rows    [32]byte // chain over the labelled rows
	Lineage [32]byte // rows as of the last change of the model
	step    int64
	Reached []snapshot.Position // sorted by topic and partition
	// learnedTo has topic, partition and offset of Reached as of the last change of the model. It
	// is replaced, never modified.
	learnedTo []snapshot.Position

	Limits Limits // limits of the output topics

	Beat func() // called between mini-batches; may be nil

	// Compare is called with each pass over rows of b, before it is learned, and with the index in
	// b of its first row. It may be nil.
	Compare func(b *Decided, from int, pass *learner.PredictedBatch)

	Meter *ranking.Recent // measures the predictions of classes; may be nil

	// Settled, if not nil, is called with each row that was predicted earlier and is now learned,
	// with the label of another record or with the label for a missing one.
	Settled func(Settled)

	Expected Expected // estimates the error over the recent predictions, including those without a label yet

	// Witness, if not nil, is called with each prediction, before anything of its mini-batch is
	// learned.
	Witness func(Predicted)

	Timeline timeline.Timeline // of the errors of the model

	join *join.Join // nil unless labels come late
	late int64      // rows of the last BATCH that were learned with the label of another record, or with that for a missing one
	bad  int64      // labels of the last BATCH that went to quarantine because the join refused them

	adopted adopted // columns that were adopted

	tables *table.Tables // nil unless records are enriched

	Numbers *deviation.Recent // measures predictions of numbers; may be nil

	scratch []byte
	encoder *record.Encoder // for the current model; nil after a change
	encodes *decode.Schema  // schema that encoder was made for
	form    record.Form     // form that encoder was made for
}

// New returns the model before its first record.
func New(name string, options []byte, c learner.Config) (*History, error) {
	l, err := learner.New(c)
	if err != nil {
		return nil, err
	}
	h := &History{name: name, options: options, Learner: l, Schema: new(decode.Schema), Limits: defaultLimits}
	h.rows = sha256.Sum256(options)
	h.Lineage, h.join, h.adopted.config = h.rows, newJoin(options), c
	h.tables = newTables(options)
	return h, nil
}

// Learn predicts and learns the rows of b, one mini-batch after the other. The BATCH must be in the
// model log already, so that the caller may publish the publication at once.
func (h *History) Learn(seq int64, chain [32]byte, b *Decided) *Publication {
	h.tables.Apply(b.Tables)
	h.Learner.Observe(&b.Batch) // before the join, so that rows that wait for a label keep the windows of now
	if h.join != nil {
		b = h.joined(b)
	}
	out := &Publication{Seq: seq, Chain: chain, Predictions: make([]Outgoing, 0, b.Batch.Len())}
	h.adopted.news, h.adopted.renamed = nil, nil
	drifts := h.Progress().Drifts
	rest := b.Items
	h.learn(b, func(from int, rows *learner.Batch, pass *learner.PredictedBatch) func() {
		h.keep(b, rows, pass, rest)
		if h.Compare != nil {
			h.Compare(b, from, pass)
		}
		answer := func() { rest = h.answer(out, b, from, rows, pass, rest) }
		if h.Witness != nil || h.join != nil { // both use the model that made the predictions
			answer()
			return nil
		}
		return answer
	}, h.changed)
	for _, it := range rest { // bad records after the last row
		if it.Err != nil {
			h.quarantine(out, it)
		}
	}
	for i, r := range b.Ranges {
		p := h.position(r.Topic, r.TopicID, r.Partition)
		p.Next = r.To
		if r.Records > 0 {
			p.Fingerprint = b.fingerprints[i]
		}
	}
	h.Seq, h.Chain, h.Schema = seq, chain, b.Schema
	h.Timeline.Observe(h.Progress(), drifts)
	return out
}

// learn predicts and learns the rows of b, one mini-batch after the other. It calls predicted with
// each mini-batch, whose rows begin with the given one, before it is learned, and what predicted
// returns while it is learned; and changed, with the steps of the Learner so far, when the model has
// changed.
func (h *History) learn(b *Decided, predicted func(from int, rows *learner.Batch, pass *learner.PredictedBatch) (meanwhile func()), changed func(steps int64)) {
	mine, trial := &view{of: &b.Batch}, &view{of: &b.Batch}
	for from := 0; from < b.Batch.Len(); {
		h.adopt(b, from)
		rows := mine.rows(h.width(b, from), h.adopted.aliases, from, h.until(b, from))
		others := h.otherNames(b, rows, from)
		pass := h.Learner.Predict(rows)
		meanwhile := predicted(from, rows, pass) // first, because it may give rows what was kept for them
		n, losses := pass.Len(), h.losses(pass)
		if step := h.Learner.LearnWhile(pass, meanwhile); step.Changed {
			changed(step.Step)
		}
		h.compareNames(b, from, losses, others)
		if losses != nil && (h.try(b, trial, from, losses) || h.rename(b)) {
			changed(h.Learner.Progress().Step)
		}
		from += n
		if h.Beat != nil {
			h.Beat()
		}
	}
	h.adopt(b, b.Batch.Len())
}

// changed records that the model has changed. steps are the steps of its Learner so far.
func (h *History) changed(steps int64) {
	h.step, h.Lineage, h.encoder = h.adopted.former.Step+steps, h.rows, nil
	h.learnedTo = make([]snapshot.Position, 0, len(h.Reached))
	for _, p := range h.Reached {
		h.learnedTo = append(h.learnedTo, snapshot.Position{Topic: p.Topic, Partition: p.Partition, Next: p.Next})
	}
}

// answer adds the predictions of a pass to out, and sends the bad records before its last row to
// quarantine. It returns the items after that row.
func (h *History) answer(out *Publication, b *Decided, from int, rows *learner.Batch, pass *learner.PredictedBatch, rest []Item) []Item {
	h.useEncoder(b)
	for i := range pass.Len() {
		for rest[0].Err != nil {
			h.quarantine(out, rest[0])
			rest = rest[1:]
		}
		it := rest[0]
		rest = rest[1:]
		if it.predicted {
			h.grade(b, from+i, i, pass, it)
			if it.Record != nil {
				h.position(it.in.Topic, it.in.ID, it.in.Partition).Next = it.Record.Offset + 1
			}
			continue
		}
		x := record.Example{Topic: it.in.Topic, Partition: it.in.Partition, Record: it.Record, Key: it.key, Sequence: out.Seq, Label: b.Batch.Label(from + i), Decision: pass.Decision, Intervals: pass.Uncertainty(i), Quantiles: pass.Quantiles, Mixture: pass.Mixture}
		if x.Label.Task != learner.Auto {
			x.Loss, x.Graded = pass.Loss(i)
			if x.Label.Task == learner.Classification {
				x.LabelName = b.Schema.Classes[x.Label.Class]
			}
			h.grade(b, from+i, i, pass, it)
		}
		h.Expected.ask(&pass.Predictions, i, h.decided(&pass.Predictions, i))
		out.Predictions = append(out.Predictions, Outgoing{it.in.Partition, h.encoder.Record(x, pass.Task, pass.Row(i))})
		if h.Witness != nil {
			schema := h.aliased(b.Schema.First(rows.Dim()), b.Schema)
			h.Witness(Predicted{Topic: it.in.Topic, Partition: it.in.Partition, Record: it.Record, X: rows.X(i), Label: x.Label, Loss: x.Loss, Graded: x.Graded, Weight: b.Batch.Weight(from + i), Schema: schema, Pass: pass, Row: i, Published: &out.Predictions[len(out.Predictions)-1].Record})
		}
		h.position(it.in.Topic, it.in.ID, it.in.Partition).Next = it.Record.Offset + 1
	}
	return rest
}

// useEncoder makes h.encoder the encoder of the current model.
func (h *History) useEncoder(b *Decided) {
	if h.encoder == nil || h.encodes != b.Schema || h.form != b.Form {
		id := record.ModelID{Name: h.name, Step: h.step, Lineage: h.Lineage, LearnedTo: h.learnedTo}
		h.encoder, h.encodes = record.NewEncoder(id, b.Schema.Classes, h.Limits.Predictions).Passing(h.Limits.Passed).In(b.Form), b.Schema
		h.form = b.Form
	}
}

// decided returns the class that a prediction decides on, or -1 if it decides on none.
func (h *History) decided(p *learner.Predictions, i int) int {
	if p.Task != learner.Classification || p.Size == 0 {
		return -1
	}
	return h.encoder.Class(p.Decision, p.Row(i))
}

// measure adds the prediction of a class to the meter. decided is the class that was decided on
// when the prediction was made, or -1 if it is being made now.
func (h *History) measure(pass *learner.Predictions, i, decided, class int, weight float64) {
	if h.Meter != nil && pass.Task == learner.Classification && pass.Size > 0 {
		p := pass.Row(i)
		if decided < 0 {
			decided = h.decided(pass, i)
		}
		h.Expected.grade(pass, i, decided, decided != class)
		h.Meter.Add(p, decided, class, weight)
		if paid, probable, ok := h.encoder.Costs(pass.Decision, p, class); ok {
			h.Meter.AddCost(paid, probable, weight)
		}
	}
}

// advance adds a labelled row to the chain.
func (h *History) advance(it Item) {
	b := append(append(h.scratch[:0], h.rows[:]...), it.in.Topic...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(it.in.Partition), 10)
	b = append(b, 0)
	b = strconv.AppendInt(b, it.Record.Offset, 10)
	h.rows, h.scratch = sha256.Sum256(b), b
}

// position returns the position of h in a partition. It adds the partition if it is new.
func (h *History) position(topic string, id [16]byte, partition int32) *snapshot.Position {
	i := 0
	for i < len(h.Reached) && (h.Reached[i].Topic < topic || h.Reached[i].Topic == topic && h.Reached[i].Partition < partition) {
		i++
	}
	if i == len(h.Reached) || h.Reached[i].Topic != topic || h.Reached[i].Partition != partition {
		h.Reached = append(h.Reached, snapshot.Position{})
		copy(h.Reached[i+1:], h.Reached[i:])
		h.Reached[i] = snapshot.Position{Topic: topic, TopicID: id, Partition: partition}
	}
	return &h.Reached[i]
}

func (h *History) quarantine(out *Publication, it Item) {
	r := record.Quarantined(it.in.Topic, it.in.Partition, it.Record, it.Err, h.Limits.Values, h.Limits.Passed.Redact, h.Limits.Quarantine)
	r = input.AppendCopies(nil, []ingest.Record{r})[0] // a copy, because the record refers to the memory of the whole BATCH
	out.Quarantined = append(out.Quarantined, Outgoing{it.in.Partition, r})
}
