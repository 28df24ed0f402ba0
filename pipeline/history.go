package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// history is a model together with the state that its BATCHes, learned in order,
// have led to. Learning, replay and verification all use the method learn and so
// reach the same state, bit for bit.
type history struct {
	name    string
	options []byte // journaled configuration
	learner *learner.Learner
	schema  *decode.Schema

	seq       int64
	chain     [32]byte // of the BATCH records
	rows      [32]byte // chain over the labelled rows
	lineage   [32]byte // rows as of the last change of the model
	step      int64
	reached   []snapshot.Position // sorted by topic and partition
	learnedTo []snapshot.Position // topic, partition and offset of reached as of the last change of the model; replaced, never modified

	limits limits // of the output topics

	beat func() // called between mini-batches; may be nil

	scratch []byte
	encoder *record.Encoder // for the current model; nil after a change
	encodes *decode.Schema  // schema of encoder
}

// limits holds the maximum size in bytes of a record batch of each output topic.
type limits struct{ predictions, quarantine int }

var defaultLimits = limits{ingest.DefaultMaxMessageBytes, ingest.DefaultMaxMessageBytes}

// newHistory returns the model before its first record.
func newHistory(name string, options []byte, c learner.Config) (*history, error) {
	l, err := learner.New(c)
	if err != nil {
		return nil, err
	}
	h := &history{name: name, options: options, learner: l, schema: new(decode.Schema), limits: defaultLimits}
	h.rows = sha256.Sum256(options)
	h.lineage = h.rows
	return h, nil
}

// release is the output of a BATCH: a prediction for every row, and every other
// record, which goes to quarantine, with the reason why it is not a row.
type release struct {
	seq         int64
	chain       [32]byte // of the BATCH
	predictions []outgoing
	quarantined []outgoing
}

type outgoing struct {
	partition int32 // of the input
	record    ingest.Record
}

// learn predicts and learns the rows of b, one mini-batch after the other. The BATCH
// is in the model log already, so the caller may publish the release at once.
func (h *history) learn(seq int64, chain [32]byte, b *decided) *release {
	out := &release{seq: seq, chain: chain, predictions: make([]outgoing, 0, b.batch.Len())}
	rest := b.items
	for from := 0; from < b.batch.Len(); {
		pass := h.learner.Predict(b.batch.Slice(from, b.batch.Len()))
		rest = h.answer(out, b, from, pass, rest)
		if step := h.learner.Learn(pass); step.Changed {
			h.step, h.lineage, h.encoder = step.Step, h.rows, nil
			h.learnedTo = make([]snapshot.Position, 0, len(h.reached))
			for _, p := range h.reached {
				h.learnedTo = append(h.learnedTo, snapshot.Position{Topic: p.Topic, Partition: p.Partition, Next: p.Next})
			}
		}
		from += pass.Len()
		if h.beat != nil {
			h.beat()
		}
	}
	for _, it := range rest { // after the last row
		h.quarantine(out, it)
	}
	for i, r := range b.ranges {
		p := h.position(r.Topic, r.TopicID, r.Partition)
		p.Next = r.To
		if r.Records > 0 {
			p.Fingerprint = b.marks[i]
		}
	}
	h.seq, h.chain, h.schema = seq, chain, b.schema
	return out
}

// skip advances h past lost input.
func (h *history) skip(g *modellog.Gap) *release {
	p := h.position(g.Topic, g.TopicID, g.Partition)
	p.Next, p.Fingerprint = g.To, 0 // the record before is lost
	h.seq, h.chain = g.Seq, g.Chain
	return &release{seq: g.Seq, chain: g.Chain}
}

// turned applies a ROLLBACK, ADOPT or UPGRADE to h. It returns nil for all other
// records.
func (h *history) turned(r modellog.Record) *release {
	switch r := r.(type) {
	case *modellog.Rollback:
		return h.turn(r.Type(), r.Seq, r.Chain)
	case *modellog.Adopt:
		h.adopt(r)
		return h.turn(r.Type(), r.Seq, r.Chain)
	case *modellog.Upgrade:
		return h.turn(r.Type(), r.Seq, r.Chain)
	}
	return nil
}

// adopt replaces the positions in the old topics by those in the new ones.
func (h *history) adopt(a *modellog.Adopt) {
	for _, in := range a.Inputs {
		for _, to := range in.Partitions {
			for i := range h.reached {
				p := &h.reached[i]
				if p.Topic == in.Topic && p.TopicID == in.TopicID && p.Partition == to.Partition {
					*p = snapshot.Position{Topic: or(in.NewTopic, in.Topic), TopicID: in.NewID, Partition: to.Partition, Next: to.Next, Fingerprint: to.Fingerprint}
				}
			}
		}
	}
	slices.SortFunc(h.reached, snapshot.Position.Compare)
}

// turn mixes a ROLLBACK, ADOPT or UPGRADE into the lineage, so that it differs from
// the lineage of the same rows learned without that record.
func (h *history) turn(kind string, seq int64, chain snapshot.Hash) *release {
	b := append([]byte("accrete "+kind+" 1\x00"), h.rows[:]...)
	h.rows = sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(seq)))
	h.lineage, h.encoder = h.rows, nil
	h.seq, h.chain = seq, chain
	return &release{seq: seq, chain: chain}
}

// answer adds the predictions of a pass to out, and to quarantine the bad records
// before its last row. It returns the items after that row.
func (h *history) answer(out *release, b *decided, from int, pass *learner.Pass, rest []item) []item {
	if h.encoder == nil || h.encodes != b.schema {
		id := record.ModelID{Name: h.name, Step: h.step, Lineage: h.lineage, LearnedTo: h.learnedTo}
		h.encoder, h.encodes = record.NewEncoder(id, b.schema.Classes, h.limits.predictions), b.schema
	}
	for i := range pass.Len() {
		for rest[0].err != nil {
			h.quarantine(out, rest[0])
			rest = rest[1:]
		}
		it := rest[0]
		rest = rest[1:]
		x := record.Example{Topic: it.in.Topic, Partition: it.in.Partition, Record: it.record, Key: it.key, Sequence: out.seq, Label: b.batch.Label(from + i)}
		if x.Label.Task != learner.Auto {
			x.Loss, x.Graded = pass.Loss(i)
			if x.Label.Task == learner.Classification {
				x.LabelName = b.schema.Classes[x.Label.Class]
			}
			h.advance(it)
		}
		out.predictions = append(out.predictions, outgoing{it.in.Partition, h.encoder.Record(x, pass.Task, pass.Row(i))})
		h.position(it.in.Topic, it.in.ID, it.in.Partition).Next = it.record.Offset + 1
	}
	return rest
}

// advance adds a labelled row to the chain.
func (h *history) advance(it item) {
	b := append(append(h.scratch[:0], h.rows[:]...), it.in.Topic...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(it.in.Partition), 10)
	b = append(b, 0)
	b = strconv.AppendInt(b, it.record.Offset, 10)
	h.rows, h.scratch = sha256.Sum256(b), b
}

// position returns the position of h in a partition, which it adds if it is new.
func (h *history) position(topic string, id [16]byte, partition int32) *snapshot.Position {
	i := 0
	for i < len(h.reached) && (h.reached[i].Topic < topic || h.reached[i].Topic == topic && h.reached[i].Partition < partition) {
		i++
	}
	if i == len(h.reached) || h.reached[i].Topic != topic || h.reached[i].Partition != partition {
		h.reached = append(h.reached, snapshot.Position{})
		copy(h.reached[i+1:], h.reached[i:])
		h.reached[i] = snapshot.Position{Topic: topic, TopicID: id, Partition: partition}
	}
	return &h.reached[i]
}

func (h *history) quarantine(out *release, it item) {
	r := record.Quarantined(it.in.Topic, it.in.Partition, it.record, it.err, h.limits.quarantine)
	r = input.AppendCopies(nil, []ingest.Record{r})[0] // or it would keep the memory of the whole BATCH
	out.quarantined = append(out.quarantined, outgoing{it.in.Partition, r})
}

// freeze copies h into a snapshot.
func (h *history) freeze(epoch int64) (*snapshot.Snapshot, error) {
	return h.copied(epoch, h.learner.State())
}

// freezeServing copies only what predicting needs, which is small.
func (h *history) freezeServing(epoch int64) (*snapshot.Snapshot, error) {
	return h.copied(epoch, learner.State{Serving: h.learner.Serving()})
}

func (h *history) copied(epoch int64, state learner.State) (*snapshot.Snapshot, error) {
	schema, err := json.Marshal(h.schema)
	if err != nil {
		return nil, err
	}
	return &snapshot.Snapshot{
		Model: h.name, Epoch: epoch, Seq: h.seq, Step: h.step,
		Chain: h.chain, Lineage: h.lineage, Rows: h.rows,
		Config: h.options, ConfigHash: sha256.Sum256(h.options),
		Positions: append([]snapshot.Position(nil), h.reached...),
		Schema:    schema,
		LearnedTo: h.learnedTo,
		State:     state,
	}, nil
}

// thaw restores the history that freeze has copied.
func thaw(s *snapshot.Snapshot, c learner.Config) (*history, error) {
	l, err := learner.Restore(c, s.State)
	if err != nil {
		return nil, err
	}
	h := &history{
		name: s.Model, options: s.Config, learner: l, schema: new(decode.Schema),
		seq: s.Seq, chain: s.Chain, rows: s.Rows, lineage: s.Lineage, step: s.Step,
		reached:   append([]snapshot.Position(nil), s.Positions...),
		learnedTo: s.LearnedTo,
		limits:    defaultLimits,
	}
	if err := json.Unmarshal(s.Schema, h.schema); err != nil {
		return nil, fmt.Errorf("%w: schema: %v", snapshot.ErrCorrupt, err)
	}
	if planted.Fault("thaw") {
		h.learnedTo = nil
	}
	return h, nil
}
