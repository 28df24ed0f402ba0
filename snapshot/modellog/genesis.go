package modellog

import (
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
)

// Versions distinguish programs that compute different bits from the same records. They are the
// version of the arithmetic that learns and predicts, and the version of the decoder that turns
// records into rows.
type Versions struct {
	Arithmetic int `json:"arithmetic,omitempty"`
	Decoder    int `json:"decoder,omitempty"`
}

func (v Versions) String() string {
	return fmt.Sprintf("arithmetic %d, decoder %d", v.Arithmetic, v.Decoder)
}

// Known returns v, with 1 for versions that are missing because the first release omitted them.
func (v Versions) Known() Versions { return Versions{max(v.Arithmetic, 1), max(v.Decoder, 1)} }

// Genesis begins a log, directly after its first CLAIM: it contains the id of the
// topic and the start of the seqs. It counts only once, and only before the first
// decision.
type Genesis struct {
	Owner
	Model   string           `json:"model"`
	TopicID snapshot.TopicID `json:"topic_id"`       // of the log; zero if the broker has none
	Seq     int64            `json:"seq"`            // one less than the seq of the first decision
	Chain   snapshot.Hash    `json:"chain,omitzero"` // as of Seq, if an imported history continues from a snapshot

	// Import is the last seq of a history that is being imported; 0: none. The log is
	// incomplete until an IMPORTED counts.
	Import int64 `json:"import,omitempty"`

	// Start is nil if the model begins with the empty state at the first records of its inputs.
	// Otherwise Chain is the hash of Start, Seq is at least 1, and Import is Seq: the log is
	// incomplete until it has the snapshot of the state at the start, and an IMPORTED.
	Start *Start `json:"start,omitempty"`
	Versions
	Writer string `json:"writer"` // version of the program, for people
	Signed
}

// Origin describes the beginning of a log and the versions in effect.
type Origin struct {
	TopicID snapshot.TopicID `json:"topic_id"` // zero if no record has named it
	Seq     int64            `json:"seq"`      // where seqs start
	Versions
	Import int64  `json:"import,omitempty"` // last seq of an import in progress; 0: none
	Start  *Start `json:"start,omitempty"`  // never modified; nil: the empty state at the first records of the inputs
	Signed bool   `json:"signed,omitempty"` // a claim was signed, and from it on only signed records count
}

// Partitions states the number of partitions of an input topic that the learner
// reads from here on.
type Partitions struct {
	Owner
	Topic   string           `json:"topic"`
	TopicID snapshot.TopicID `json:"topic_id"`
	Count   int32            `json:"count"`
	Signed
}

// Imported states that an imported history is complete.
type Imported struct {
	Owner
	Seq   int64         `json:"seq"` // the last one
	Chain snapshot.Hash `json:"chain"`
	Signed
}

func (*Genesis) Type() string    { return "genesis" }
func (*Partitions) Type() string { return "partitions" }
func (*Imported) Type() string   { return "imported" }

func (g *Genesis) String() string {
	s := fmt.Sprintf("of %q in topic %v, %v", g.Model, g.TopicID, g.Versions)
	if g.Seq > 0 {
		s += fmt.Sprintf(", continues after seq %d", g.Seq)
	}
	if g.Start != nil {
		return s + ", begins with " + g.Start.String()
	}
	if g.Import > 0 {
		s += fmt.Sprintf(", import up to seq %d", g.Import)
	}
	return s
}

func (p *Partitions) String() string { return fmt.Sprintf("%d of %s", p.Count, p.Topic) }

func (i *Imported) String() string { return fmt.Sprintf("up to seq %d", i.Seq) }

func (i *Imported) check() error {
	if i.Seq < 1 {
		return fmt.Errorf("seq %d", i.Seq)
	}
	return nil
}

func (g *Genesis) check() error {
	if !snapshot.ValidTopic(g.Model) || g.Seq < 0 || g.Seq == 0 && g.Chain != (snapshot.Hash{}) || len(g.Writer) > maxText || g.Import != 0 && g.Import < max(g.Seq, 1) {
		return fmt.Errorf("model %.300q, seq %d, import up to %d, writer of %d bytes", g.Model, g.Seq, g.Import, len(g.Writer))
	}
	if s := g.Start; s != nil {
		if g.Seq < 1 || g.Import != g.Seq {
			return fmt.Errorf("a start at seq %d, with an import up to %d", g.Seq, g.Import)
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return g.Versions.check(1)
}

func (v Versions) check(least int) error {
	if min(v.Arithmetic, v.Decoder) < least || max(v.Arithmetic, v.Decoder) > maxVersion {
		return fmt.Errorf("%v", v)
	}
	return nil
}

func (p *Partitions) check() error {
	if !snapshot.ValidTopic(p.Topic) || p.Count < 1 {
		return fmt.Errorf("%d partitions of %q", p.Count, p.Topic)
	}
	return nil
}
