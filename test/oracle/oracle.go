// Package oracle is the second truth about a pipeline: a reader of one model's
// topics that is as simple as it can be made. It has one goroutine and no
// batches, and shares no code with pipeline, ingest/decode or the fold of
// snapshot: it reads the model log, the input, the predictions and the
// quarantine as JSON, teaches a learner one row after the other, and says where
// the topics hold anything else than that comes to.
package oracle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Partition names one partition of an input topic.
type Partition struct {
	Topic string
	Index int32
}

// World is what the topics of a model hold. The records of the input are
// objects {"features":{…},"label":…}, with a class or nothing as their label;
// what is none of these is expected in quarantine.
type World struct {
	Model       string
	Log         []ingest.Record // all of it, from offset 0 on
	Inputs      map[Partition][]ingest.Record
	Predictions []ingest.Record
	Quarantine  []ingest.Record
}

// Report is what an Oracle found.
type Report struct {
	Batches     int64 `json:"batches"`
	Consumed    int64 `json:"consumed"` // offsets that the BATCHes and GAPs cover
	Learned     int64 `json:"learned"`
	Predicted   int64 `json:"predicted"` // and not learned: they have no label
	Quarantined int64 `json:"quarantined"`
	Skipped     int64 `json:"skipped"` // offsets without a committed record
	Gap         int64 `json:"gap"`
	Void        int64 `json:"void"`       // records of the log that do not count
	Compared    int64 `json:"compared"`   // state hashes
	Duplicates  int64 `json:"duplicates"` // predictions and quarantined records written again
	Differing   int64 `json:"duplicates_differing"`
	Lost        int64 `json:"lost"`        // without a prediction, or not in quarantine
	Divergences int64 `json:"divergences"` // all other faults

	StateHash snapshot.Hash       `json:"state_hash"` // behind the last BATCH
	Next      map[Partition]int64 `json:"-"`          // first offset that no BATCH covers
	Faults    []string            `json:"faults,omitempty"`

	Decided   map[string]int64 `json:"-"` // by topic-partition-offset: seq of the BATCH
	BatchAt   map[int64]int64  `json:"-"` // by seq: offset in the log
	Manifests []Claimed        `json:"-"` // that say that predictions are released
}

// Claimed is the offset of a record in the log that says that everything up to
// Seq is released.
type Claimed struct{ Offset, Seq int64 }

const mostFaults = 20

func (r *Report) fault(format string, args ...any) {
	r.Divergences++
	r.note(format, args...)
}

func (r *Report) note(format string, args ...any) {
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// entry has the members of all records of the log.
type entry struct {
	Type   string
	Epoch  int64
	Nonce  string
	Seq    int64
	Chain  string
	Ranges []span
	Counts struct{ Learned, Predicted, Quarantined, Skipped int64 }

	Topic     string // of a gap
	TopicID   string `json:"topic_id"`
	Partition int32
	From, To  int64

	Config json.RawMessage

	Snapshot  string // of a manifest
	StateHash string `json:"state_hash"`
	Lineage   string
	SHA256    string
	Chunks    int

	offset int64 // where it lies

	index int // of a chunk
	data  []byte
}

type span struct {
	Topic     string
	TopicID   string `json:"topic_id"`
	Partition int32
	From, To  int64
	Records   int64
	Digest    uint64 `json:",string"`
}

// parse reads one record of the log; false if it cannot be one.
func parse(r ingest.Record) (e entry, ok bool) {
	le := binary.LittleEndian
	if b := r.Value; bytes.HasPrefix(b, []byte("\x89ACK")) && len(b) > 64 {
		typ := "chunk"
		if b[6] != 0 { // of a challenger, which is no part of the history
			typ = "challenger chunk"
		}
		return entry{
			Type: typ, Epoch: int64(le.Uint64(b[8:])), Nonce: hex.EncodeToString(b[16:32]),
			Snapshot: hex.EncodeToString(b[32:48]), index: int(le.Uint32(b[48:])), Chunks: int(le.Uint32(b[52:])), data: b[64:],
		}, true
	}
	return e, json.Unmarshal(r.Value, &e) == nil && e.Type == string(r.Key)
}

type oracle struct {
	Report
	world World
	model model

	epoch   int64 // of the claim in force
	nonce   string
	options []byte
	chain   [32]byte

	pending string // snapshot under way
	file    [][]byte
	seen    int64 // seq of the last manifest

	states     map[int64]state   // behind the BATCHes that a manifest names, by seq
	want       map[string]any    // predictions by id
	quarantine map[string][]byte // values of bad records by id
}

// Check reads everything in w.
func Check(w World) Report {
	o := &oracle{world: w, states: map[int64]state{}, want: map[string]any{}, quarantine: map[string][]byte{}}
	o.Next, o.Decided, o.BatchAt = map[Partition]int64{}, map[string]int64{}, map[int64]int64{}
	o.model.next = map[Partition]int64{}
	var log []entry
	for _, r := range w.Log {
		e, ok := parse(r)
		if !ok {
			e = entry{Type: "?"}
		}
		if e.Type == "manifest" {
			o.states[e.Seq] = state{}
		}
		e.offset = r.Offset
		log = append(log, e)
	}
	for _, e := range log {
		if !o.read(e.offset, e) {
			o.Void++
		}
	}
	if o.model.learner != nil {
		o.StateHash = o.model.hash()
	}
	o.predictions()
	o.quarantined()
	if o.Consumed != o.Learned+o.Predicted+o.Quarantined+o.Skipped+o.Gap {
		o.fault("%d offsets consumed, and %d learned + %d predicted + %d quarantined + %d skipped + %d lost", o.Consumed, o.Learned, o.Predicted, o.Quarantined, o.Skipped, o.Gap)
	}
	return o.Report
}

// read takes in a record of the log if it counts.
func (o *oracle) read(offset int64, e entry) (counts bool) {
	if e.Type == "claim" {
		if e.Epoch <= o.epoch {
			return false
		}
		o.epoch, o.nonce, o.pending, o.file = e.Epoch, e.Nonce, "", nil
		return true
	}
	if e.Epoch != o.epoch || e.Nonce != o.nonce {
		return false
	}
	switch e.Type {
	case "config":
		return o.config(e)
	case "batch", "gap":
		chain := o.link(e)
		if e.Seq != o.Batches+1 || e.Chain != hex.EncodeToString(chain[:]) {
			return false
		}
		o.chain = chain
		o.Batches++
		o.BatchAt[e.Seq] = offset
		if e.Type == "gap" {
			o.cover(Partition{e.Topic, e.Partition}, e.From, e.To)
			o.Gap += e.To - e.From
			o.model.next[Partition{e.Topic, e.Partition}] = e.To
		} else {
			o.batch(e)
		}
		if _, named := o.states[e.Seq]; named && o.model.learner != nil {
			o.states[e.Seq] = state{o.model.hash(), o.model.lineage}
		}
	case "released":
		if e.Seq > o.Batches {
			return false
		}
		o.Manifests = append(o.Manifests, Claimed{offset, e.Seq})
	case "chunk":
		if e.index == 0 && e.Snapshot != o.pending {
			o.pending, o.file = e.Snapshot, nil
		}
		if e.Snapshot != o.pending || e.index != len(o.file) {
			return false
		}
		o.file = append(o.file, e.data)
	case "?":
		return false
	case "manifest":
		if e.Snapshot != o.pending || len(o.file) != e.Chunks || e.Seq < o.seen || e.Seq > o.Batches {
			return false
		}
		o.manifest(offset, e)
	}
	return true
}

// link is the chain behind e.
func (o *oracle) link(e entry) [32]byte {
	le := binary.LittleEndian
	b := []byte("accrete chain 1 " + e.Type + "\x00")
	b = append(b, o.chain[:]...)
	b = le.AppendUint64(b, uint64(e.Seq))
	place := func(topic, id string, partition int32, from, to int64) {
		b = le.AppendUint32(b, uint32(len(topic)))
		b = append(b, topic...)
		var raw snapshot.TopicID
		if err := raw.UnmarshalText([]byte(id)); err != nil {
			o.fault("BATCH %d: %v", e.Seq, err)
		}
		b = append(b, raw[:]...)
		b = le.AppendUint32(b, uint32(partition))
		b = le.AppendUint64(le.AppendUint64(b, uint64(from)), uint64(to))
	}
	if e.Type == "gap" {
		place(e.Topic, e.TopicID, e.Partition, e.From, e.To)
		return sha256.Sum256(b)
	}
	b = le.AppendUint32(b, uint32(len(e.Ranges)))
	for _, s := range e.Ranges {
		place(s.Topic, s.TopicID, s.Partition, s.From, s.To)
		b = le.AppendUint64(le.AppendUint64(b, uint64(s.Records)), s.Digest)
	}
	for _, n := range []int64{e.Counts.Learned, e.Counts.Predicted, e.Counts.Quarantined, e.Counts.Skipped} {
		b = le.AppendUint64(b, uint64(n))
	}
	return sha256.Sum256(b)
}

func (o *oracle) config(e entry) bool {
	var options struct{ Learner learner.Config }
	if err := json.Unmarshal(e.Config, &options); err != nil {
		o.fault("CONFIG: %v", err)
		return false
	}
	if o.options != nil { // a copy may arrive late
		if !bytes.Equal(o.options, e.Config) {
			o.fault("CONFIG changes to %s", e.Config)
		}
		return true
	}
	o.options = e.Config
	l, err := learner.New(options.Learner)
	if err != nil {
		o.fault("CONFIG: %v", err)
		return false
	}
	o.model.learner, o.model.rows = l, sha256.Sum256(e.Config)
	o.model.lineage = o.model.rows
	o.model.changed()
	return true
}

// cover says that the offsets [from, to) of p are dealt with: each once.
func (o *oracle) cover(p Partition, from, to int64) {
	if next, ok := o.Next[p]; ok && next != from {
		o.fault("%v is decided up to %d and then from %d on", p, next, from)
	}
	o.Next[p] = to
	o.Consumed += to - from
}

func (o *oracle) batch(e entry) {
	if o.model.learner == nil {
		o.fault("BATCH %d before any CONFIG", e.Seq)
		return
	}
	if o.model.schema.Task == "" { // until then it is written as null
		o.model.schema.Task, o.model.schema.Columns, o.model.schema.Classes = "auto", []string{}, []string{}
	}
	var learned, predicted, quarantined, skipped int64
	for _, s := range e.Ranges {
		p := Partition{s.Topic, s.Partition}
		o.cover(p, s.From, s.To)
		n, digest := int64(0), xxhash.New()
		for _, r := range between(o.world.Inputs[p], s.From, s.To) {
			n++
			hash(digest, r)
			id := fmt.Sprintf("%s-%d-%d", s.Topic, s.Partition, r.Offset)
			o.Decided[id] = e.Seq
			x, label, ok := o.model.decode(r)
			if !ok {
				o.quarantine[id] = r.Value
				quarantined++
				continue
			}
			o.want[id] = o.model.row(o.world.Model, p, r.Offset, x, label)
			if label == "" {
				predicted++
			} else {
				learned++
			}
		}
		skipped += s.To - s.From - n
		if n != s.Records || digest.Sum64() != s.Digest {
			o.fault("BATCH %d was decided on %d records of %v in [%d, %d), and the topic has %d other ones", e.Seq, s.Records, p, s.From, s.To, n)
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

// between is the records of rs, which are in order, in [from, to).
func between(rs []ingest.Record, from, to int64) []ingest.Record {
	at := func(offset int64) int {
		i, _ := slices.BinarySearchFunc(rs, offset, func(r ingest.Record, o int64) int { return int(r.Offset - o) })
		return i
	}
	return rs[at(from):at(to)]
}

// hash is what the digest of a range is made of.
func hash(h *xxhash.Digest, r ingest.Record) {
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
	for _, x := range r.Headers {
		field([]byte(x.Key))
		field(x.Value)
	}
}

// manifest checks a snapshot: its file and its state. It stands behind a BATCH
// that was read before.
func (o *oracle) manifest(offset int64, e entry) {
	o.pending, o.seen = "", e.Seq
	file := bytes.Join(o.file, nil)
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != e.SHA256 {
		o.fault("the snapshot at %d is not the file that its manifest names", offset)
	}
	o.Manifests = append(o.Manifests, Claimed{offset, e.Seq})
	o.Compared++
	if got := o.states[e.Seq]; got.hash.String() != e.StateHash || got.lineage.String() != e.Lineage {
		o.fault("seq %d: the manifest says state %.16s, lineage %.16s; it is %.16v, %.16v", e.Seq, e.StateHash, e.Lineage, got.hash, got.lineage)
	}
}

// predictions compares the topic with what was computed.
func (o *oracle) predictions() {
	first := map[string]ingest.Record{}
	for _, r := range o.world.Predictions {
		id := header(r, "ce_id")
		want, ok := o.want[id]
		if !ok {
			o.fault("a prediction for %q, which no BATCH has", id)
			continue
		}
		if was, again := first[id]; again {
			o.Duplicates++
			if !same(was, r) {
				o.Differing++
				o.note("%s was predicted as %s and as %s", id, was.Value, r.Value)
			}
			continue
		}
		first[id] = r
		var got any
		if err := json.Unmarshal(r.Value, &got); err != nil || !reflect.DeepEqual(got, want) {
			o.fault("%s was predicted as %s, want %v", id, r.Value, want)
		}
		if seq := header(r, "ce_sequence"); seq != fmt.Sprint(o.Decided[id]) {
			o.fault("the prediction for %s says BATCH %q, and it is in BATCH %d", id, seq, o.Decided[id])
		}
	}
	o.Lost += int64(len(o.want) - len(first))
	if len(o.want) > len(first) {
		o.note("%d of %d records have no prediction", len(o.want)-len(first), len(o.want))
	}
}

func (o *oracle) quarantined() {
	first := map[string]bool{}
	for _, r := range o.world.Quarantine {
		id := header(r, "__connect.errors.topic") + "-" + header(r, "__connect.errors.partition") + "-" + header(r, "__connect.errors.offset")
		want, ok := o.quarantine[id]
		switch {
		case !ok:
			o.fault("%q is in quarantine, and nothing is wrong with it", id)
		case !bytes.Equal(want, r.Value):
			o.fault("%s came into quarantine as %q, it is %q", id, r.Value, want)
		case first[id]:
			o.Duplicates++
		}
		first[id] = true
	}
	for id := range o.quarantine {
		if !first[id] {
			o.Lost++
			o.note("%s is not in quarantine", id)
		}
	}
}

func header(r ingest.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// same says whether two records are the same but for their offset.
func same(a, b ingest.Record) bool {
	a.Offset, b.Offset = 0, 0
	return reflect.DeepEqual(a, b)
}

// model is a learner that is taught row by row.
type model struct {
	learner *learner.Learner
	schema  struct {
		Columns []string `json:"columns"`
		Task    string   `json:"task"`
		Classes []string `json:"classes"`
	}
	next      map[Partition]int64
	rows      snapshot.Hash // chain over the labelled rows
	lineage   snapshot.Hash // the same as of the last change of the model
	step      int64
	learnedTo string // digest of next as of the last change
}

// state is what a manifest says of the model.
type state struct{ hash, lineage snapshot.Hash }

// decode reads a record in the plainest way there is.
func (m *model) decode(r ingest.Record) (x []float64, label string, ok bool) {
	if r.Value == nil || !utf8.Valid(r.Value) || len(r.Headers) > ingest.MaxHeaders {
		return nil, "", false
	}
	var fields map[string]json.RawMessage
	var features map[string]json.RawMessage
	if json.Unmarshal(r.Value, &fields) != nil || json.Unmarshal(fields["features"], &features) != nil {
		return nil, "", false
	}
	for name := range fields {
		if name != "features" && name != "label" {
			return nil, "", false
		}
	}
	var names []string
	for name := range features {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 || len(m.schema.Columns) > 0 && !slices.Equal(names, m.schema.Columns) {
		return nil, "", false
	}
	for _, name := range names {
		v, err := strconv.ParseFloat(string(features[name]), 64)
		if err != nil || math.Abs(v) > 1e30 {
			return nil, "", false
		}
		x = append(x, v)
	}
	if raw := string(fields["label"]); raw != "" && raw != "null" {
		if json.Unmarshal(fields["label"], &label) != nil || label == "" {
			return nil, "", false
		}
		if m.schema.Task = "classification"; !slices.Contains(m.schema.Classes, label) {
			m.schema.Classes = append(m.schema.Classes, label)
		}
	}
	m.schema.Columns = names
	return x, label, true
}

// row predicts a row, learns it, and returns the prediction.
func (m *model) row(name string, p Partition, offset int64, x []float64, label string) any {
	var b learner.Batch
	b.Reset(len(x))
	var y learner.Label
	if label != "" {
		y = learner.Label{Task: learner.Classification, Class: slices.Index(m.schema.Classes, label)}
	}
	b.Append(x, y, 1)
	pass := m.learner.Predict(&b)
	out := map[string]any{
		"prediction": nil, "model": name, "step": float64(m.step), "lineage": m.lineage.String(), "learned_to": m.learnedTo,
	}
	if row := pass.Row(0); len(row) > 0 {
		best, probabilities := 0, map[string]any{}
		for i, v := range row {
			probabilities[m.schema.Classes[i]] = v
			if v > row[best] {
				best = i
			}
		}
		out["prediction"], out["probabilities"] = m.schema.Classes[best], probabilities
	}
	if label != "" {
		out["label"] = label
		if v, ok := pass.Loss(0); ok {
			out["loss"] = v
		}
		m.rows = sha256.Sum256(fmt.Appendf(m.rows[:], "%s\x00%d\x00%d", p.Topic, p.Index, offset))
	}
	m.next[p] = offset + 1
	if step := m.learner.Learn(pass); step.Changed {
		m.step, m.lineage = step.Step, m.rows
		m.changed()
	}
	return out
}

// changed notes where the input stands.
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
	schema, err := json.Marshal(m.schema)
	if err != nil {
		panic(err)
	}
	return snapshot.StateHash(schema, m.learner.State())
}
