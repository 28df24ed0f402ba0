package modellog

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/snapshot"
)

// Rollback takes the history back to its state after ToSeq. The seqs between ToSeq and Seq are
// abandoned and never used again: predictions published under them belong to no history. Seqs that
// the log has lost are abandoned as well, so Seq may be much greater than the last seq in the log.
// Only a ROLLBACK repairs a broken log.
type Rollback struct {
	Owner
	Seq     int64         `json:"seq"` // greater than any seq ever used
	Chain   snapshot.Hash `json:"chain"`
	ToSeq   int64         `json:"to_seq"`
	ToChain snapshot.Hash `json:"to_chain"`
	Reason  string        `json:"reason"`
	By      string        `json:"by"` // name of the writer, for people
	Signed
}

// Adopt replaces input topics from here on, after they were recreated or mirrored
// to another cluster. The new topics hold the same records under other ids and
// offsets.
type Adopt struct {
	Owner
	Seq    int64         `json:"seq"` // one more than the previous seq
	Chain  snapshot.Hash `json:"chain"`
	Inputs []Adopted     `json:"inputs"` // by topic
	Reason string        `json:"reason,omitempty"`
	By     string        `json:"by"` // name of the writer, for people
	Signed
}

// Adopted is a topic that replaces another one.
type Adopted struct {
	Topic      string             `json:"topic"`
	TopicID    snapshot.TopicID   `json:"topic_id"`            // id of the old topic
	NewTopic   string             `json:"new_topic,omitempty"` // name of the new topic, if the name has changed
	NewID      snapshot.TopicID   `json:"new_id"`              //
	Partitions []AdoptedPartition `json:"partitions"`          // in ascending order
}

// AdoptedPartition is the position from which reading continues in a partition.
type AdoptedPartition struct {
	Partition   int32  `json:"partition"`
	From        int64  `json:"from"`               // next offset in the old topic
	Next        int64  `json:"next"`               // next offset in the new topic
	Fingerprint uint64 `json:"fingerprint,string"` // of the record before Next, 0 if there is none
}

// Upgrade states that the decisions from here on are made by programs of these versions, which
// compute different bits.
type Upgrade struct {
	Owner
	Seq   int64         `json:"seq"` // one more than the previous seq
	Chain snapshot.Hash `json:"chain"`
	Versions
	Writer string `json:"writer"` // version of the program, for people
	Signed
}

func (*Rollback) Type() string { return "rollback" }
func (*Adopt) Type() string    { return "adopt" }
func (*Upgrade) Type() string  { return "upgrade" }

func (r *Rollback) String() string {
	return fmt.Sprintf("seq %d: rollback to seq %d, by %q: %s", r.Seq, r.ToSeq, r.By, r.Reason)
}

func (a *Adopt) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seq %d, by %q:", a.Seq, a.By)
	for _, in := range a.Inputs {
		name := in.Topic
		if in.NewTopic != "" {
			name += " = " + in.NewTopic
		}
		fmt.Fprintf(&s, " %s, %d partitions, id %v for %v", name, len(in.Partitions), in.NewID, in.TopicID)
	}
	return s.String()
}

func (u *Upgrade) String() string { return fmt.Sprintf("seq %d: %v", u.Seq, u.Versions) }

func (r *Rollback) check() error {
	if r.ToSeq < 0 || r.Seq <= r.ToSeq || len(r.Reason) > maxText || len(r.By) > maxText {
		return fmt.Errorf("seq %d, rollback to %d, reason of %d bytes, writer of %d", r.Seq, r.ToSeq, len(r.Reason), len(r.By))
	}
	return nil
}

func (a *Adopt) check() error {
	if a.Seq < 1 || len(a.Inputs) == 0 || len(a.Reason) > maxText || len(a.By) > maxText {
		return fmt.Errorf("seq %d, %d inputs, reason of %d bytes, by %d", a.Seq, len(a.Inputs), len(a.Reason), len(a.By))
	}
	for i, in := range a.Inputs {
		if !snapshot.ValidTopic(in.Topic) || in.NewTopic != "" && !snapshot.ValidTopic(in.NewTopic) || len(in.Partitions) == 0 {
			return fmt.Errorf("%d partitions of %.300q, renamed %.300q", len(in.Partitions), in.Topic, in.NewTopic)
		}
		if i > 0 && a.Inputs[i-1].Topic >= in.Topic {
			return fmt.Errorf("topic %s is out of order", in.Topic)
		}
		for k, p := range in.Partitions {
			if p.Partition < 0 || p.From < 0 || p.Next < 0 || k > 0 && in.Partitions[k-1].Partition >= p.Partition {
				return fmt.Errorf("%s-%d: offset %d, mapped to %d, is invalid or out of order", in.Topic, p.Partition, p.From, p.Next)
			}
		}
	}
	return nil
}

func (u *Upgrade) check() error {
	if u.Seq < 1 || len(u.Writer) > maxText {
		return fmt.Errorf("seq %d, writer of %d bytes", u.Seq, len(u.Writer))
	}
	return u.Versions.check(1)
}
