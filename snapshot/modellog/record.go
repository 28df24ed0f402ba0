package modellog

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/snapshot"
)

// Owner is the claim under which a record is written. The nonce tells apart two
// processes that claim the same epoch: draw a new one for each claim.
type Owner struct {
	Epoch int64       `json:"epoch"`
	Nonce snapshot.ID `json:"nonce"`
}

func (o Owner) owner() Owner { return o }

func (o Owner) String() string { return fmt.Sprintf("epoch %d, nonce %v", o.Epoch, o.Nonce) }

// Record is one of *Claim, *Genesis, *Config, *Batch, *Gap, *Rollback, *Adopt,
// *Upgrade, *Released, *Pause, *Resume, *Partitions, *Chunk, *Manifest,
// *Challenger.
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

	// TopicID is the log topic's own id, so that no claim can be carried into
	// another log. It is zero on brokers that have none, before 2.8.
	TopicID snapshot.TopicID `json:"topic_id,omitzero"`

	// Versions are those of what is decided under this claim; zero stands for 1.
	Versions
	Writer string `json:"writer,omitempty"` // version of the program, for people
	Signed
}

// Config is every option that reaches the arithmetic, in force from the next
// BATCH on. Options change here and nowhere else.
type Config struct {
	Owner
	Hash   snapshot.Hash   `json:"hash"`
	Config json.RawMessage `json:"config"` // compact
	Signed
}

// Batch is a decision about input: these records, in this order.
type Batch struct {
	Owner
	Seq    int64         `json:"seq"`   // one more than the last
	Chain  snapshot.Hash `json:"chain"` // see NextChain
	Ranges []Range       `json:"ranges"`
	Counts Counts        `json:"counts"`
	Signed
}

// Range is a run of committed records of one partition.
type Range struct {
	Topic     string           `json:"topic"`
	TopicID   snapshot.TopicID `json:"topic_id"`
	Partition int32            `json:"partition"`
	From      int64            `json:"from"`
	To        int64            `json:"to"`            // the first offset that is not in it
	Records   int64            `json:"records"`       // offsets also go to markers and aborted records
	Digest    uint64           `json:"digest,string"` // of their keys, values and headers
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
	Seq       int64            `json:"seq"` // as for a BATCH
	Chain     snapshot.Hash    `json:"chain"`
	Topic     string           `json:"topic"`
	TopicID   snapshot.TopicID `json:"topic_id"`
	Partition int32            `json:"partition"`
	From      int64            `json:"from"`
	To        int64            `json:"to"`
	Signed
}

// Released says that the predictions up to Seq are acknowledged. It is written
// lazily: more may have been.
type Released struct {
	Owner
	Seq int64 `json:"seq"`
	Signed
}

// Pause says that nothing is decided behind Seq until a RESUME: too much of what
// came last was bad. It has no influence on what is learned.
type Pause struct {
	Owner
	Seq    int64  `json:"seq"`
	Bad    int64  `json:"bad"`    // records that went to quarantine, of
	Of     int64  `json:"of"`     // the last ones
	Reason string `json:"reason"` // of the last bad one
	Signed
}

// Resume ends the Pause at Seq. Who writes it is not the owner of the log, but
// borrows the claim in force, so that it counts for the learner it was meant
// for and for no later one.
type Resume struct {
	Owner
	Seq int64  `json:"seq"`
	By  string `json:"by"` // who it is, for people
	Signed
}

// Manifest completes the snapshot whose chunks precede it. It says all that a
// reader needs to begin at Start, without the log before it.
type Manifest struct {
	Owner
	Snapshot      snapshot.ID     `json:"snapshot"`       // the first half of SHA256
	Model         string          `json:"model"`          // as the file says
	Seq           int64           `json:"seq"`            // as the file says
	Step          int64           `json:"step"`           // as the file says
	Chain         snapshot.Hash   `json:"chain"`          // as the file says
	Lineage       snapshot.Hash   `json:"lineage"`        // as the file says
	StateHash     snapshot.Hash   `json:"state_hash"`     // as the file says
	Size          int64           `json:"size"`           // of the file
	SHA256        snapshot.Hash   `json:"sha256"`         // of the whole file
	ServingSize   int64           `json:"serving_size"`   // of its serving part, seal included
	ServingSHA256 snapshot.Hash   `json:"serving_sha256"` // its seal
	Chunks        int             `json:"chunks"`
	ChunkSize     int             `json:"chunk_size"`  // of all chunks but the last
	FirstChunk    int64           `json:"first_chunk"` // offset
	Previous      int64           `json:"previous"`    // offset of the MANIFEST before, -1 if there is none
	Start         Mark            `json:"start"`
	ConfigHash    snapshot.Hash   `json:"config_hash"`       // as the file says
	Config        json.RawMessage `json:"config,omitempty"`  // as the file says: in force at Start
	Genesis       *Origin         `json:"genesis,omitempty"` // of the log, as of Start; nil as the first release wrote it
	Signed
}

// Mark is a place in the model log: just behind a decision, which its owner
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
	for _, r := range []Record{
		new(Claim), new(Genesis), new(Config), new(Batch), new(Gap), new(Rollback), new(Adopt), new(Upgrade),
		new(Released), new(Pause), new(Resume), new(Partitions), new(Chunk), new(Manifest), new(Challenger),
	} {
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
