package modellog

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/snapshot"
)

// Owner identifies the claim under which a record is written. The nonce
// distinguishes two processes that claim the same epoch: draw a new one for each
// claim.
type Owner struct {
	Epoch int64       `json:"epoch"`
	Nonce snapshot.ID `json:"nonce"`
}

func (o Owner) owner() Owner { return o }

func (o Owner) String() string { return fmt.Sprintf("epoch %d, nonce %v", o.Epoch, o.Nonce) }

// Record is one of *Claim, *Genesis, *Imported, *Config, *Batch, *Gap, *Rollback,
// *Adopt, *Upgrade, *Released, *Pause, *Resume, *Serving, *Partitions, *Chunk,
// *Manifest, *Challenger.
type Record interface {
	Type() string   // returns the record's key in Kafka
	String() string // returns one line for people
	owner() Owner
	check() error
}

// Claim makes its writer the owner of the model log from its offset on, if its
// epoch is greater than that of the current claim there.
type Claim struct {
	Owner
	Host string `json:"host"` // name of the writer, for people

	// TopicID is the id of the log's own topic, so that a claim is not valid in
	// another log. It is zero if the broker has no topic ids (before Kafka 2.8).
	TopicID snapshot.TopicID `json:"topic_id,omitzero"`

	// Versions apply to the decisions under this claim; zero means 1.
	Versions
	Writer string `json:"writer,omitempty"` // version of the program, for people
	Signed
}

// Config holds all options that affect the arithmetic. They are in effect from the
// next BATCH on. Options change only through this record.
type Config struct {
	Owner
	Hash   snapshot.Hash   `json:"hash"`
	Config json.RawMessage `json:"config"` // compact
	Signed
}

// Batch is a decision about input: the records to process, in this order.
type Batch struct {
	Owner
	Seq    int64         `json:"seq"`   // one more than the previous seq
	Chain  snapshot.Hash `json:"chain"` // see NextChain
	Ranges []Range       `json:"ranges"`
	Counts Counts        `json:"counts"`

	// Columns is nil if the columns have not changed and no field was ignored.
	Columns *Columns `json:"columns,omitempty"`

	// Schemas are the schemas of a registry that the records of this BATCH are the first to need.
	Schemas []Schema `json:"schemas,omitempty"`

	// Tables are the changes of tables (input.tables) that apply before the records. A BATCH with
	// changes of tables may have no Ranges.
	Tables []TableChanges `json:"tables,omitempty"`

	// Renames are the columns that are read from other fields, as declared, sorted by column.
	Renames []Rename `json:"renames,omitempty"`

	// Output is how the predictions of this BATCH are written; nil: as JSON.
	Output *Output `json:"output,omitempty"`
	Signed
}

// Schema is a schema of a registry.
type Schema struct {
	ID   string `json:"id"`   // a number or a GUID
	Type string `json:"type"` // AVRO, PROTOBUF or JSON
	Text string `json:"text"`
}

// Rename states that a column is read from a field, in records that lack the column.
type Rename struct {
	Column string `json:"column"`
	Field  string `json:"field"`
}

// TableChanges are records of one partition of the topic of a table. Because that topic may be
// compacted, the log itself has all rows that are learned from.
type TableChanges struct {
	Table     string           `json:"table"`
	TopicID   snapshot.TopicID `json:"topic_id"`
	Partition int32            `json:"partition"`
	From      int64            `json:"from"`
	To        int64            `json:"to"`                 // first offset after the records
	Rejected  int64            `json:"rejected,omitempty"` // number of records that are not rows
	Rows      []TableRow       `json:"rows,omitempty"`     // in the order of their offsets
}

// TableRow is a row that is set or deleted.
type TableRow struct {
	Key    string          `json:"key"`
	Values json.RawMessage `json:"values,omitempty"` // array of scalars; missing if the row is deleted
}

// Output is a form in which predictions are written. Their values begin with the id of a schema.
type Output struct {
	Format string `json:"format"`
	Schema uint32 `json:"schema"`
}

// Range is a run of committed records of one partition.
type Range struct {
	Topic     string           `json:"topic"`
	TopicID   snapshot.TopicID `json:"topic_id"`
	Partition int32            `json:"partition"`
	From      int64            `json:"from"`
	To        int64            `json:"to"`            // first offset after the range
	Records   int64            `json:"records"`       // may be less than To-From: markers and aborted records have offsets too
	Digest    uint64           `json:"digest,string"` // over their keys, values and headers
}

// Counts is the number of records of a BATCH by outcome.
type Counts struct {
	Learned     int64 `json:"learned"`
	Predicted   int64 `json:"predicted"`
	Quarantined int64 `json:"quarantined"`
	Skipped     int64 `json:"skipped"`
	Labels      int64 `json:"labels,omitempty"` // records with only a label, which are joined with the features of other records
}

// Gap is input that was lost to retention before it was read: the offsets From to
// To-1.
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

// Released states that the predictions up to Seq are acknowledged. It is written
// lazily, so that later predictions may be acknowledged too.
type Released struct {
	Owner
	Seq int64 `json:"seq"`
	Signed
}

// Pause states that nothing is decided after Seq until a RESUME, because too many of the last records
// were bad or the columns have changed. It does not affect what is learned.
type Pause struct {
	Owner
	Seq    int64  `json:"seq"`
	Bad    int64  `json:"bad"`    // number of quarantined records
	Of     int64  `json:"of"`     // among this number of last records
	Reason string `json:"reason"` // of the last bad record

	// Columns are those that have changed, if that is why; nil if the bad records are.
	Columns *Columns `json:"columns,omitempty"`
	Signed
}

// Resume ends the Pause at Seq. Its writer is not the owner of the log. It uses
// the epoch and nonce of the current claim, so that the record counts for the
// intended learner only and not for a later one.
type Resume struct {
	Owner
	Seq int64  `json:"seq"`
	By  string `json:"by"` // name of the writer, for people
	Signed
}

// Manifest completes the snapshot of the CHUNKs before it. It contains all that a
// reader needs to begin at Start without the earlier log.
type Manifest struct {
	Owner
	Snapshot      snapshot.ID     `json:"snapshot"`       // first half of SHA256
	Model         string          `json:"model"`          // as in the file
	Seq           int64           `json:"seq"`            // as in the file
	Step          int64           `json:"step"`           // as in the file
	Chain         snapshot.Hash   `json:"chain"`          // as in the file
	Lineage       snapshot.Hash   `json:"lineage"`        // as in the file
	StateHash     snapshot.Hash   `json:"state_hash"`     // as in the file
	Size          int64           `json:"size"`           // of the file
	SHA256        snapshot.Hash   `json:"sha256"`         // of the whole file
	ServingSize   int64           `json:"serving_size"`   // of the serving part of the file, seal included
	ServingSHA256 snapshot.Hash   `json:"serving_sha256"` // seal of the serving part
	Chunks        int             `json:"chunks"`
	ChunkSize     int             `json:"chunk_size"`  // of all chunks but the last
	FirstChunk    int64           `json:"first_chunk"` // offset
	Previous      int64           `json:"previous"`    // offset of the previous MANIFEST, -1 if there is none
	Start         Place           `json:"start"`
	ConfigHash    snapshot.Hash   `json:"config_hash"`       // as in the file
	Config        json.RawMessage `json:"config,omitempty"`  // as in the file; in effect at Start
	Genesis       *Origin         `json:"genesis,omitempty"` // of the log, as of Start; nil in manifests of the first release
	Columns       *AbsentColumns  `json:"columns,omitempty"` // as of Start; nil if there are none

	Time     int64              `json:"time,omitempty"`     // Unix milliseconds at which the snapshot was taken, for information; 0 if unknown
	Timeline *timeline.Timeline `json:"timeline,omitempty"` // of the errors as of Start, for information; nil if there is none
	Gate     *Gate              `json:"gate,omitempty"`     // nil if the snapshot was not compared with another
	Serving  *Choice            `json:"serving,omitempty"`  // hold or pin in effect when the MANIFEST was written; nil if there is none
	Signed
}

// Written returns when the snapshot was taken; the zero time if that is unknown.
func (m *Manifest) Written() time.Time {
	if m.Time == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.Time)
}

// Place is a place in the model log: directly after a decision, with the owner
// that wrote the decision.
type Place struct {
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
		new(Claim), new(Genesis), new(Imported), new(Config), new(Batch), new(Gap), new(Rollback), new(Adopt), new(Upgrade),
		new(Released), new(Pause), new(Resume), new(Serving), new(Partitions), new(Chunk), new(Manifest), new(Challenger),
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
	fmt.Fprintf(&s, "seq %d", b.Seq)
	for i, r := range b.Ranges { // none in a BATCH of changes of tables alone
		if i == 0 {
			s.WriteByte(':')
		}
		fmt.Fprintf(&s, " %s-%d [%d, %d)", r.Topic, r.Partition, r.From, r.To)
	}
	fmt.Fprintf(&s, ", learned %d, predicted %d, quarantined %d, skipped %d",
		b.Counts.Learned, b.Counts.Predicted, b.Counts.Quarantined, b.Counts.Skipped)
	if b.Counts.Labels > 0 {
		fmt.Fprintf(&s, ", labels %d", b.Counts.Labels)
	}
	for _, c := range b.Tables {
		fmt.Fprintf(&s, ", table %s-%d [%d, %d)", c.Table, c.Partition, c.From, c.To)
	}
	if changed := b.Columns.String(); changed != "" {
		s.WriteString(", " + changed)
	}
	return s.String()
}

func (g *Gap) String() string {
	return fmt.Sprintf("seq %d: gap %s-%d [%d, %d)", g.Seq, g.Topic, g.Partition, g.From, g.To)
}

func (r *Released) String() string { return fmt.Sprintf("up to seq %d", r.Seq) }

func (p *Pause) String() string {
	return fmt.Sprintf("after seq %d: %s", p.Seq, p.Why())
}

// Why returns the reason for the pause.
func (p *Pause) Why() string {
	if p.Columns != nil {
		return p.Columns.String()
	}
	return fmt.Sprintf("%d of the last %d records were invalid, the last one: %s", p.Bad, p.Of, p.Reason)
}

func (r *Resume) String() string { return fmt.Sprintf("after seq %d, by %q", r.Seq, r.By) }

func (m *Manifest) String() string {
	s := fmt.Sprintf("snapshot %v at seq %d, step %d: %d bytes in %d chunks, state %.16s", m.Snapshot, m.Seq, m.Step, m.Size, m.Chunks, m.StateHash)
	if len(m.Signature) > 0 {
		s += ", signed"
	}
	if m.Gate != nil {
		s += ", " + m.Gate.String()
	}
	return s
}
