package modellog

import (
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
)

// Versions tell apart programs that come to other bits from the same records:
// of the arithmetic that learns and predicts, and of the decoder that makes
// rows of records.
type Versions struct {
	Arithmetic int `json:"arithmetic,omitempty"`
	Decoder    int `json:"decoder,omitempty"`
}

func (v Versions) String() string {
	return fmt.Sprintf("arithmetic %d, decoder %d", v.Arithmetic, v.Decoder)
}

// known is v with what the first release did not write down.
func (v Versions) known() Versions { return Versions{max(v.Arithmetic, 1), max(v.Decoder, 1)} }

// Genesis begins a log, right behind its first CLAIM: it says which topic this
// is, and where seqs start. It counts once, and only while nothing is decided.
type Genesis struct {
	Owner
	Model   string           `json:"model"`
	TopicID snapshot.TopicID `json:"topic_id"`       // the log's own; zero where the broker has none
	Seq     int64            `json:"seq"`            // the first decision's is one more
	Chain   snapshot.Hash    `json:"chain,omitzero"` // as of Seq, where an imported history goes on from a snapshot
	Versions
	Writer string `json:"writer"` // version of the program, for people
	Signed
}

// Origin is what is known of a log's beginning, and of what is in force since.
type Origin struct {
	TopicID snapshot.TopicID `json:"topic_id"` // zero: nobody has said it
	Seq     int64            `json:"seq"`      // where seqs start
	Versions
	Signed bool `json:"signed,omitempty"` // the claim in force is signed, and so is all that counts from it on
}

// Partitions says that from here on the learner reads so many partitions of an
// input topic.
type Partitions struct {
	Owner
	Topic   string           `json:"topic"`
	TopicID snapshot.TopicID `json:"topic_id"`
	Count   int32            `json:"count"`
	Signed
}

func (*Genesis) Type() string    { return "genesis" }
func (*Partitions) Type() string { return "partitions" }

func (g *Genesis) String() string {
	s := fmt.Sprintf("of %q in topic %v, %v", g.Model, g.TopicID, g.Versions)
	if g.Seq > 0 {
		s += fmt.Sprintf(", goes on behind seq %d", g.Seq)
	}
	return s
}

func (p *Partitions) String() string { return fmt.Sprintf("%d of %s", p.Count, p.Topic) }

func (g *Genesis) check() error {
	if !snapshot.ValidTopic(g.Model) || g.Seq < 0 || g.Seq == 0 && g.Chain != (snapshot.Hash{}) || len(g.Writer) > maxText {
		return fmt.Errorf("model %.300q, seq %d, writer of %d bytes", g.Model, g.Seq, len(g.Writer))
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
