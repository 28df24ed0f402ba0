package modellog

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/snapshot"
)

// Rollback takes the history back to where it stood behind ToSeq. The seqs in
// between are abandoned and never used again: what was released under them is of
// no history any more. Nor are those that the log has lost, so that Seq may leave
// out more than the log knows of. Nothing but a ROLLBACK makes a broken log good.
type Rollback struct {
	Owner
	Seq     int64         `json:"seq"` // greater than any that was ever used
	Chain   snapshot.Hash `json:"chain"`
	ToSeq   int64         `json:"to_seq"`
	ToChain snapshot.Hash `json:"to_chain"`
	Reason  string        `json:"reason"`
	By      string        `json:"by"` // who it is, for people
	Signed
}

// Adopt says that input topics are others from here on: recreated, or mirrored
// to another cluster, with the same records under other ids and offsets.
type Adopt struct {
	Owner
	Seq    int64         `json:"seq"` // one more than the last
	Chain  snapshot.Hash `json:"chain"`
	Inputs []Adopted     `json:"inputs"` // by topic
	By     string        `json:"by"`     // who it is, for people
	Signed
}

// Adopted is a topic that takes another one's place.
type Adopted struct {
	Topic      string             `json:"topic"`
	TopicID    snapshot.TopicID   `json:"topic_id"`            // as it was
	NewTopic   string             `json:"new_topic,omitempty"` // if it has another name now
	NewID      snapshot.TopicID   `json:"new_id"`              //
	Partitions []AdoptedPartition `json:"partitions"`          // in ascending order
}

// AdoptedPartition is where reading goes on in a partition.
type AdoptedPartition struct {
	Partition   int32  `json:"partition"`
	From        int64  `json:"from"`               // the next offset, as it was
	Next        int64  `json:"next"`               // as it is
	Fingerprint uint64 `json:"fingerprint,string"` // of the record before Next, 0 if there is none
}

// Upgrade says that what follows is decided by programs of these versions, whose
// bits are others.
type Upgrade struct {
	Owner
	Seq   int64         `json:"seq"` // one more than the last
	Chain snapshot.Hash `json:"chain"`
	Versions
	Writer string `json:"writer"` // version of the program, for people
	Signed
}

func (*Rollback) Type() string { return "rollback" }
func (*Adopt) Type() string    { return "adopt" }
func (*Upgrade) Type() string  { return "upgrade" }

func (r *Rollback) String() string {
	return fmt.Sprintf("seq %d: back to seq %d, by %q: %s", r.Seq, r.ToSeq, r.By, r.Reason)
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
		return fmt.Errorf("seq %d back to %d, reason of %d bytes, by %d", r.Seq, r.ToSeq, len(r.Reason), len(r.By))
	}
	return nil
}

func (a *Adopt) check() error {
	if a.Seq < 1 || len(a.Inputs) == 0 || len(a.By) > maxText {
		return fmt.Errorf("seq %d, %d inputs, by %d bytes", a.Seq, len(a.Inputs), len(a.By))
	}
	for i, in := range a.Inputs {
		if !snapshot.ValidTopic(in.Topic) || in.NewTopic != "" && !snapshot.ValidTopic(in.NewTopic) || len(in.Partitions) == 0 {
			return fmt.Errorf("%d partitions of %.300q, now %.300q", len(in.Partitions), in.Topic, in.NewTopic)
		}
		if i > 0 && a.Inputs[i-1].Topic >= in.Topic {
			return fmt.Errorf("the topic %s is out of order", in.Topic)
		}
		for k, p := range in.Partitions {
			if p.Partition < 0 || p.From < 0 || p.Next < 0 || k > 0 && in.Partitions[k-1].Partition >= p.Partition {
				return fmt.Errorf("%s-%d from %d on at %d, or out of order", in.Topic, p.Partition, p.From, p.Next)
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
