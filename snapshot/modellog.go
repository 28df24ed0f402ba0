package snapshot

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	logVersion = 1

	maxRecord = 1 << 20 // bytes of a record's value
)

// Owner is the claim under which a record is written. The nonce tells apart two
// processes that claim the same epoch: draw a new one for each claim.
type Owner struct {
	Epoch int64 `json:"epoch"`
	Nonce ID    `json:"nonce"`
}

func (o Owner) owner() Owner { return o }

func (o Owner) String() string { return fmt.Sprintf("epoch %d, nonce %v", o.Epoch, o.Nonce) }

// Record is one of *Claim, *Config, *Batch, *Gap, *Released, *Pause, *Resume,
// *Chunk, *Manifest, *Challenger.
type Record interface {
	Type() string   // the record's key in Kafka
	String() string // one line for people
	owner() Owner
	check() error
}

// Claim makes its writer the owner of the model log from here on, if its epoch
// is greater than that of the claim in force where it lies.
type Claim struct {
	Owner
	Host string `json:"host"` // who it is, for people
}

// Config is every option that reaches the arithmetic, in force from the next
// BATCH on. Options change here and nowhere else.
type Config struct {
	Owner
	Hash   Hash            `json:"hash"`
	Config json.RawMessage `json:"config"` // compact
}

// Batch is a decision about input: these records, in this order.
type Batch struct {
	Owner
	Seq    int64   `json:"seq"`   // one more than the last BATCH or GAP
	Chain  Hash    `json:"chain"` // see NextChain
	Ranges []Range `json:"ranges"`
	Counts Counts  `json:"counts"`
}

// Range is a run of committed records of one partition.
type Range struct {
	Topic     string  `json:"topic"`
	TopicID   TopicID `json:"topic_id"`
	Partition int32   `json:"partition"`
	From      int64   `json:"from"`
	To        int64   `json:"to"`            // the first offset that is not in it
	Records   int64   `json:"records"`       // offsets also go to markers and aborted records
	Digest    uint64  `json:"digest,string"` // of their keys, values and headers
}

// Counts is what became of the records of a BATCH.
type Counts struct {
	Learned     int64 `json:"learned"`
	Predicted   int64 `json:"predicted"`
	Quarantined int64 `json:"quarantined"`
	Skipped     int64 `json:"skipped"`
}

// Gap is input that retention took before it was read, the offsets From to To-1.
type Gap struct {
	Owner
	Seq       int64   `json:"seq"` // as for a BATCH
	Chain     Hash    `json:"chain"`
	Topic     string  `json:"topic"`
	TopicID   TopicID `json:"topic_id"`
	Partition int32   `json:"partition"`
	From      int64   `json:"from"`
	To        int64   `json:"to"`
}

// Released says that the predictions up to Seq are acknowledged. It is written
// lazily: more may have been.
type Released struct {
	Owner
	Seq int64 `json:"seq"`
}

// Pause says that nothing is decided behind Seq until a RESUME: too much of what
// came last was bad. It has no influence on what is learned.
type Pause struct {
	Owner
	Seq    int64  `json:"seq"`
	Bad    int64  `json:"bad"`    // records that went to quarantine, of
	Of     int64  `json:"of"`     // the last ones
	Reason string `json:"reason"` // of the last bad one
}

// Resume ends the Pause at Seq. Who writes it is not the owner of the log, but
// borrows the claim in force, so that it counts for the learner it was meant
// for and for no later one.
type Resume struct {
	Owner
	Seq int64  `json:"seq"`
	By  string `json:"by"` // who it is, for people
}

// Manifest completes the snapshot whose chunks precede it. It says all that a
// reader needs to begin at Start, without the log before it.
type Manifest struct {
	Owner
	Snapshot      ID              `json:"snapshot"`       // the first half of SHA256
	Model         string          `json:"model"`          // as the file says
	Seq           int64           `json:"seq"`            // as the file says
	Step          int64           `json:"step"`           // as the file says
	Chain         Hash            `json:"chain"`          // as the file says
	Lineage       Hash            `json:"lineage"`        // as the file says
	StateHash     Hash            `json:"state_hash"`     // as the file says
	Size          int64           `json:"size"`           // of the file
	SHA256        Hash            `json:"sha256"`         // of the whole file
	ServingSize   int64           `json:"serving_size"`   // of its serving part, seal included
	ServingSHA256 Hash            `json:"serving_sha256"` // its seal
	Chunks        int             `json:"chunks"`
	ChunkSize     int             `json:"chunk_size"`  // of all chunks but the last
	FirstChunk    int64           `json:"first_chunk"` // offset
	Previous      int64           `json:"previous"`    // offset of the MANIFEST before, -1 if there is none
	Start         Mark            `json:"start"`
	ConfigHash    Hash            `json:"config_hash"`         // as the file says
	Config        json.RawMessage `json:"config,omitempty"`    // as the file says: in force at Start
	Signature     []byte          `json:"signature,omitempty"` // Ed25519, of all of the above; see Sign
}

// Mark is a place in the model log: just behind a BATCH or GAP, which its owner
// wrote.
type Mark struct {
	Offset int64 `json:"offset"`
	Owner
}

func (*Claim) Type() string    { return "claim" }
func (*Config) Type() string   { return "config" }
func (*Batch) Type() string    { return "batch" }
func (*Gap) Type() string      { return "gap" }
func (*Released) Type() string { return "released" }
func (*Pause) Type() string    { return "pause" }
func (*Resume) Type() string   { return "resume" }
func (*Chunk) Type() string    { return "chunk" }
func (*Manifest) Type() string { return "manifest" }

func newRecord(typ string) Record {
	for _, r := range []Record{new(Claim), new(Config), new(Batch), new(Gap), new(Released), new(Pause), new(Resume), new(Chunk), new(Manifest), new(Challenger)} {
		if r.Type() == typ {
			return r
		}
	}
	return nil
}

func (c *Claim) String() string { return fmt.Sprintf("epoch %d by %q", c.Epoch, c.Host) }

func (c *Config) String() string { return fmt.Sprintf("%.8s, %d bytes", c.Hash, len(c.Config)) }

func (b *Batch) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seq %d:", b.Seq)
	for _, r := range b.Ranges {
		fmt.Fprintf(&s, " %s-%d [%d, %d)", r.Topic, r.Partition, r.From, r.To)
	}
	fmt.Fprintf(&s, ", learned %d, predicted %d, quarantined %d, skipped %d",
		b.Counts.Learned, b.Counts.Predicted, b.Counts.Quarantined, b.Counts.Skipped)
	return s.String()
}

func (g *Gap) String() string {
	return fmt.Sprintf("seq %d: %s-%d [%d, %d) is lost", g.Seq, g.Topic, g.Partition, g.From, g.To)
}

func (r *Released) String() string { return fmt.Sprintf("up to seq %d", r.Seq) }

func (p *Pause) String() string {
	return fmt.Sprintf("behind seq %d: %d of the last %d records were bad, the last one: %s", p.Seq, p.Bad, p.Of, p.Reason)
}

func (r *Resume) String() string { return fmt.Sprintf("behind seq %d, by %q", r.Seq, r.By) }

func (m *Manifest) String() string {
	s := fmt.Sprintf("snapshot %v at seq %d, step %d: %d bytes in %d chunks, state %.16s", m.Snapshot, m.Seq, m.Step, m.Size, m.Chunks, m.StateHash)
	if len(m.Signature) > 0 {
		s += ", signed"
	}
	return s
}

// NextChain is the chain of a BATCH or GAP that follows one with the chain last;
// before the first it is zero. It covers what the record decides, and not who
// wrote it.
func NextChain(last Hash, r Record) Hash {
	le := binary.LittleEndian
	b := append([]byte("accrete chain 1 "), r.Type()...)
	b = append(b, 0)
	b = append(b, last[:]...)
	part := func(topic string, id TopicID, partition int32, from, to int64) {
		b = le.AppendUint32(b, uint32(len(topic)))
		b = append(b, topic...)
		b = append(b, id[:]...)
		b = le.AppendUint32(b, uint32(partition))
		b = le.AppendUint64(b, uint64(from))
		b = le.AppendUint64(b, uint64(to))
	}
	switch r := r.(type) {
	case *Batch:
		b = le.AppendUint64(b, uint64(r.Seq))
		b = le.AppendUint32(b, uint32(len(r.Ranges)))
		for _, g := range r.Ranges {
			part(g.Topic, g.TopicID, g.Partition, g.From, g.To)
			b = le.AppendUint64(b, uint64(g.Records))
			b = le.AppendUint64(b, g.Digest)
		}
		for _, n := range []int64{r.Counts.Learned, r.Counts.Predicted, r.Counts.Quarantined, r.Counts.Skipped} {
			b = le.AppendUint64(b, uint64(n))
		}
	case *Gap:
		b = le.AppendUint64(b, uint64(r.Seq))
		part(r.Topic, r.TopicID, r.Partition, r.From, r.To)
	default:
		panic("snapshot: a " + r.Type() + " is no part of the chain")
	}
	return sha256.Sum256(b)
}

// Encode is the record as Kafka stores it. Its errors are about an r that no
// reader would accept.
func Encode(r Record) (key, value []byte, err error) {
	key = []byte(r.Type())
	if err := checkRecord(r); err != nil {
		return nil, nil, fmt.Errorf("snapshot: %s: %w", key, err)
	}
	if c, ok := r.(*Chunk); ok {
		return key, c.encode(), nil
	}
	var buf bytes.Buffer
	fmt.Fprintf(&buf, `{"type":%q,"version":%d,`, key, logVersion)
	head := buf.Len()
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, nil, fmt.Errorf("snapshot: %s: %w", key, err)
	}
	value = buf.Bytes()
	copy(value[1:], value[:head]) // over the brace that opens r
	return key, value[1 : len(value)-1], nil
}

// Parse reads what Encode wrote. A Chunk shares the memory of value.
func Parse(key, value []byte) (Record, error) {
	if len(value) > maxRecord {
		return nil, fmt.Errorf("%w: record of %d bytes, at most %d", ErrLimit, len(value), maxRecord)
	}
	var r Record
	if bytes.HasPrefix(value, []byte(chunkMagic)) {
		c, err := parseChunk(value)
		if err != nil {
			return nil, err
		}
		r = c
	} else {
		var head struct {
			Type    string `json:"type"`
			Version int    `json:"version"`
		}
		if err := json.Unmarshal(value, &head); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if head.Version > logVersion {
			return nil, fmt.Errorf("%w: %q of version %d, this program reads up to %d", ErrTooNew, head.Type, head.Version, logVersion)
		}
		r = newRecord(head.Type)
		if _, chunk := r.(*Chunk); r == nil || chunk || head.Version < 1 {
			return nil, fmt.Errorf("%w: %q of version %d", ErrCorrupt, head.Type, head.Version)
		}
		if err := json.Unmarshal(value, r); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, head.Type, err)
		}
	}
	if string(key) != r.Type() {
		return nil, fmt.Errorf("%w: a %s under the key %q", ErrCorrupt, r.Type(), key)
	}
	if err := checkRecord(r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, r.Type(), err)
	}
	return r, nil
}

func checkRecord(r Record) error {
	if o := r.owner(); o.Epoch < 1 || o.Nonce == (ID{}) {
		return fmt.Errorf("written under no claim: %v", o)
	}
	return r.check()
}

func (c *Claim) check() error {
	if len(c.Host) > 1024 {
		return fmt.Errorf("host of %d bytes", len(c.Host))
	}
	return nil
}

func (c *Config) check() error {
	if len(c.Config) == 0 {
		return fmt.Errorf("no configuration")
	}
	return checkJSON("configuration", c.Config, maxConfig)
}

func (b *Batch) check() error {
	if b.Seq < 1 || len(b.Ranges) == 0 {
		return fmt.Errorf("seq %d, %d ranges", b.Seq, len(b.Ranges))
	}
	for i, r := range b.Ranges {
		if err := checkRange(r.Topic, r.Partition, r.From, r.To); err != nil {
			return err
		}
		if r.Records < 0 || r.Records > r.To-r.From {
			return fmt.Errorf("%d records in [%d, %d)", r.Records, r.From, r.To)
		}
		if i == 0 {
			continue
		}
		last := b.Ranges[i-1]
		c := Position{Topic: last.Topic, Partition: last.Partition}.Compare(Position{Topic: r.Topic, Partition: r.Partition})
		if c > 0 || c == 0 && last.To > r.From {
			return fmt.Errorf("the range of %s-%d from %d is out of order", r.Topic, r.Partition, r.From)
		}
	}
	if c := b.Counts; c.Learned < 0 || c.Predicted < 0 || c.Quarantined < 0 || c.Skipped < 0 {
		return fmt.Errorf("negative counts: %+v", c)
	}
	return nil
}

func checkRange(topic string, partition int32, from, to int64) error {
	if !goodTopic(topic) || partition < 0 || from < 0 || to <= from {
		return fmt.Errorf("range [%d, %d) of %q-%d", from, to, topic, partition)
	}
	return nil
}

func (g *Gap) check() error {
	if g.Seq < 1 {
		return fmt.Errorf("seq %d", g.Seq)
	}
	return checkRange(g.Topic, g.Partition, g.From, g.To)
}

func (r *Released) check() error {
	if r.Seq < 1 {
		return fmt.Errorf("seq %d", r.Seq)
	}
	return nil
}

func (p *Pause) check() error {
	if p.Seq < 1 || p.Bad < 1 || p.Of < p.Bad || len(p.Reason) > 1024 {
		return fmt.Errorf("seq %d, %d of %d records, reason of %d bytes", p.Seq, p.Bad, p.Of, len(p.Reason))
	}
	return nil
}

func (r *Resume) check() error {
	if r.Seq < 1 || len(r.By) > 1024 {
		return fmt.Errorf("seq %d, by %d bytes", r.Seq, len(r.By))
	}
	return nil
}

func (m *Manifest) check() error {
	switch {
	case m.Seq < 0 || m.Step < 0 || len(m.Model) > maxTopic:
		return fmt.Errorf("seq %d, step %d, model %.300q", m.Seq, m.Step, m.Model)
	case m.Size < preambleSize || m.ServingSize < preambleSize || m.ServingSize > m.Size:
		return fmt.Errorf("size %d, serving %d", m.Size, m.ServingSize)
	case m.ChunkSize < 1 || m.ChunkSize > chunkSize || int64(m.Chunks) != (m.Size+int64(m.ChunkSize)-1)/int64(m.ChunkSize):
		return fmt.Errorf("%d bytes in %d chunks of %d", m.Size, m.Chunks, m.ChunkSize)
	case m.Snapshot != ID(m.SHA256[:16]):
		return fmt.Errorf("snapshot %v has sha256 %v", m.Snapshot, m.SHA256)
	case len(m.Signature) != 0 && len(m.Signature) != ed25519.SignatureSize:
		return fmt.Errorf("signature of %d bytes", len(m.Signature))
	case m.FirstChunk < m.Start.Offset || m.Start.Offset < 0 || m.Start.Epoch < 0 || m.Previous < -1:
		return fmt.Errorf("start %d, first chunk %d, previous %d", m.Start.Offset, m.FirstChunk, m.Previous)
	}
	return checkJSON("configuration", m.Config, maxConfig)
}
