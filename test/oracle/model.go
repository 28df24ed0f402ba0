package oracle

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// model is a learner that learns row by row.
type model struct {
	config  learner.Config
	learner *learner.Learner
	decoder decoder
	windows *windows // nil if there are none

	next      map[Partition]int64
	rows      snapshot.Hash // hash chain over the labelled rows
	lineage   snapshot.Hash // the same at the last change of the model
	step      int64
	learnedTo string // digest of next at the last change

	features int64 // number of features of windows that were compared
	fault    error // the first feature that differs
}

func (m *model) begin(options []byte) error {
	var o struct {
		Learner learner.Config
		Input   input
	}
	if err := json.Unmarshal(options, &o); err != nil {
		return err
	}
	l, err := learner.New(o.Learner)
	if err != nil {
		return err
	}
	m.config, m.learner, m.decoder = o.Learner, l, newDecoder(o.Input)
	m.rows = sha256.Sum256(options)
	m.lineage = m.rows
	m.changed()
	return nil
}

// copy returns the current state of m, independent of later learning.
func (m *model) copy() model {
	c := *m
	var err error
	if c.learner, err = learner.Restore(m.config, m.learner.State()); err != nil {
		panic(err)
	}
	c.next = maps.Clone(m.next)
	c.decoder.schema.Classes = slices.Clone(m.decoder.schema.Classes)
	c.decoder.tables = nil
	for _, t := range m.decoder.tables {
		c.decoder.tables = append(c.decoder.tables, t.copy())
	}
	return c
}

// turn advances the row chain and the lineage where the history changes without
// a learned row.
func (m *model) turn(typ string, seq int64) {
	b := append([]byte("accrete "+typ+" 1\x00"), m.rows[:]...)
	m.rows = sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(seq)))
	m.lineage = m.rows
}

// row predicts a row and then learns it. It returns the prediction that the learner should publish,
// and the one that a scorer with the same model should.
func (m *model) row(name string, p Partition, r Record, row row) (learned expected, scored map[string]any) {
	var b learner.Batch
	b.Reset(len(row.x))
	b.Append(row.x, row.label, row.weight)
	b.SetTypes(row.types)
	b.SetClasses(m.decoder.schema.Classes)
	if at, ok := m.time(row, r); ok {
		b.SetTime(at)
	}
	if m.config.Keyed() || m.decoder.input.Key != "" {
		b.SetKey(string(row.key))
	}
	m.observe(&b)
	pass := m.learner.Predict(&b)
	classes := m.decoder.schema.Classes
	out := m.published(name, &pass.Predictions)
	scored = out
	if pass.Scorer.Size > 0 {
		scored = m.published(name, &pass.Scorer)
	}
	scored = maps.Clone(scored)
	switch row.label.Task {
	case learner.Classification:
		out["label"] = classes[row.label.Class]
	case learner.Regression:
		out["label"] = list(append([]float64{row.label.Value}, row.label.More...))
	}
	if row.label.Task != learner.Auto {
		if v, ok := pass.Loss(0); ok {
			out["loss"] = v
		}
		m.rows = sha256.Sum256(fmt.Appendf(m.rows[:], "%s\x00%d\x00%d", p.Topic, p.Index, r.Offset))
	}
	m.next[p] = r.Offset + 1
	if step := m.learner.Learn(pass); step.Changed {
		m.step, m.lineage = step.Step, m.rows
		m.changed()
	}
	return expected{out, row.key, r.Time}, scored
}

// time returns the event time of a row in seconds, if it has one.
func (m *model) time(row row, r Record) (float64, bool) {
	name := m.decoder.input.Time
	if name == "" {
		return float64(r.Time) / 1000, true
	}
	at := row.x[slices.Index(m.decoder.schema.Columns, name)]
	return at, !math.IsNaN(at)
}

// published returns the expected content in a topic of the first prediction of p, without the
// members that only labelled records have.
func (m *model) published(name string, p *learner.Predictions) map[string]any {
	out := map[string]any{
		"prediction": nil, "model": name, "step": float64(m.step), "lineage": m.lineage.String(), "learned_to": m.learnedTo,
	}
	if p.Mixture != "" {
		out["mixture"] = p.Mixture
	}
	if p.Size == 0 {
		return out
	}
	row := p.Row(0)
	if p.Task == learner.Regression {
		out["prediction"] = list(row)
		return out
	}
	classes, best, probabilities := m.decoder.schema.Classes, 0, map[string]any{}
	for i, v := range row {
		probabilities[classes[i]] = v
		if v > row[best] {
			best = i
		}
	}
	out["prediction"], out["probabilities"] = classes[best], probabilities
	return out
}

// list returns the representation of numbers in a prediction: a single number,
// or several as a list.
func list(v []float64) any {
	if len(v) == 1 {
		return v[0]
	}
	var out []any
	for _, x := range v {
		out = append(out, x)
	}
	return out
}

// changed stores the digest of the current input position.
func (m *model) changed() {
	places := slices.SortedFunc(maps.Keys(m.next), func(a, b Partition) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Index, b.Index))
	})
	h := sha256.New()
	for _, p := range places {
		fmt.Fprintf(h, "%s/%d:%d\n", p.Topic, p.Index, m.next[p])
	}
	m.learnedTo = hex.EncodeToString(h.Sum(nil))[:16]
}

func (m *model) hash() snapshot.Hash {
	schema, err := json.Marshal(m.decoder.schema)
	if err != nil {
		panic(err)
	}
	state := m.learner.State()
	state.Resuming = append(state.Resuming, saved(m.decoder.tables)...)
	return snapshot.StateHash(schema, state)
}

// placed is a record of a BATCH. at is the latest time in its partition up to this record: when the
// records of several partitions are merged by time, this is the time that counts.
type placed struct {
	Record
	in Partition
	at int64
}

// batch learns the rows of the BATCH e.
func (o *oracle) batch(e entry) {
	o.model.decoder.begin()
	for _, c := range e.Tables {
		o.change(e, c)
	}
	var learned, predicted, quarantined, skipped int64
	var all []placed
	for _, s := range e.Ranges {
		p := Partition{s.Topic, s.Partition}
		o.cover(p, s.TopicID, s.From, s.To)
		n, digest := int64(0), xxhash.New()
		latest := int64(math.MinInt64)
		for _, r := range between(o.input(p, s.TopicID), s.From, s.To) {
			n++
			hash(digest, r)
			latest = max(latest, r.Time)
			all = append(all, placed{r, p, latest})
		}
		skipped += s.To - s.From - n
		if n != s.Records || digest.Sum64() != s.Digest {
			o.fault("BATCH %d was decided on %d records of %v in [%d, %d), and the topic has %d other ones", e.Seq, s.Records, p, s.From, s.To, n)
		}
	}
	if o.model.decoder.input.ByTime {
		slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	}
	for _, r := range all {
		id := fmt.Sprintf("%s-%d-%d", r.in.Topic, r.in.Index, r.Offset)
		o.Decided[id] = e.Seq
		row, ok := o.model.decoder.decode(r.Record)
		if !ok {
			o.quarantine[id] = r.Record
			quarantined++
			continue
		}
		o.want[answer{id, e.Seq}], o.Scored[id] = o.model.row(o.world.Model, r.in, r.Record, row)
		if row.label.Task == learner.Auto {
			predicted++
		} else {
			learned++
		}
	}
	for _, s := range e.Ranges {
		o.model.next[Partition{s.Topic, s.Partition}] = s.To
	}
	if c := e.Counts; c.Learned != learned || c.Predicted != predicted || c.Quarantined != quarantined || c.Skipped != skipped {
		o.fault("BATCH %d says %+v: it has %d learned, %d predicted, %d quarantined, %d skipped", e.Seq, c, learned, predicted, quarantined, skipped)
	}
	o.Learned += learned
	o.Predicted += predicted
	o.Quarantined += quarantined
	o.Skipped += skipped
}

// input returns the records of a partition of the topic that has an id.
func (o *oracle) input(p Partition, text string) []Record {
	id, err := topicID(text)
	is, known := o.world.IDs[p.Topic]
	if err == nil && (!known || id == is) {
		return o.world.Inputs[p]
	}
	if earlier, ok := o.world.Earlier[id]; ok {
		return earlier[p]
	}
	o.fault("%v was read under id %s, and has id %x", p, text, is)
	return nil
}

// between returns the records with offsets in [from, to). rs is in order.
func between(rs []Record, from, to int64) []Record {
	at := func(offset int64) int {
		i, _ := slices.BinarySearchFunc(rs, offset, func(r Record, o int64) int { return cmp.Compare(r.Offset, o) })
		return i
	}
	return rs[at(from):at(to)]
}

// hash adds a record to the digest of a range.
func hash(h *xxhash.Digest, r Record) {
	number := func(n int64) { binary.Write(h, binary.LittleEndian, n) }
	field := func(b []byte) {
		if b == nil {
			number(0)
			return
		}
		number(int64(len(b)) + 1)
		h.Write(b)
	}
	number(r.Offset)
	field(r.Key)
	field(r.Value)
	for _, x := range r.Headers[:min(len(r.Headers), mostHeaders+1)] {
		field([]byte(x.Key))
		field(x.Value)
	}
}
