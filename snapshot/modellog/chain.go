package modellog

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/accrete-ml/accrete/snapshot"
)

// NextChain returns the chain of a BATCH, GAP, ROLLBACK, ADOPT or UPGRADE. last is the chain of the
// decision before it, or zero for the first decision. The chain covers the decision and not its
// writer.
func NextChain(last snapshot.Hash, r Record) snapshot.Hash {
	le := binary.LittleEndian
	b := append([]byte("accrete chain 1 "), r.Type()...)
	b = append(b, 0)
	b = append(b, last[:]...)
	part := func(topic string, id snapshot.TopicID, partition int32, from, to int64) {
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
		if n := r.Counts.Labels; n > 0 {
			b = le.AppendUint64(append(b, "labels"...), uint64(n))
		}
		for _, s := range r.Schemas {
			for _, text := range []string{s.ID, s.Type, s.Text} {
				b = le.AppendUint32(b, uint32(len(text)))
				b = append(b, text...)
			}
		}
		for i := range r.Tables {
			b = r.Tables[i].appendChain(b)
		}
		for _, n := range r.Renames {
			b = append(b, "rename"...)
			for _, text := range []string{n.Column, n.Field} {
				b = le.AppendUint32(b, uint32(len(text)))
				b = append(b, text...)
			}
		}
	case *Gap:
		b = le.AppendUint64(b, uint64(r.Seq))
		part(r.Topic, r.TopicID, r.Partition, r.From, r.To)
	case *Rollback:
		b = le.AppendUint64(b, uint64(r.Seq))
		b = le.AppendUint64(b, uint64(r.ToSeq))
		b = append(b, r.ToChain[:]...)
	case *Adopt:
		b = le.AppendUint64(b, uint64(r.Seq))
		b = le.AppendUint32(b, uint32(len(r.Inputs)))
		for _, in := range r.Inputs {
			b = in.appendChain(b)
		}
	case *Upgrade:
		b = le.AppendUint64(b, uint64(r.Seq))
		b = le.AppendUint32(b, uint32(r.Arithmetic))
		b = le.AppendUint32(b, uint32(r.Decoder))
	default:
		panic("modellog: a " + r.Type() + " is not part of the chain")
	}
	return sha256.Sum256(b)
}

func (c *TableChanges) appendChain(b []byte) []byte {
	le := binary.LittleEndian
	text := func(s string) {
		b = le.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	b = append(b, "table"...)
	text(c.Table)
	b = append(b, c.TopicID[:]...)
	b = le.AppendUint32(b, uint32(c.Partition))
	b = le.AppendUint64(b, uint64(c.From))
	b = le.AppendUint64(b, uint64(c.To))
	b = le.AppendUint64(b, uint64(c.Rejected))
	b = le.AppendUint32(b, uint32(len(c.Rows)))
	for _, r := range c.Rows {
		text(r.Key)
		text(string(r.Values))
	}
	return b
}

func (in *Adopted) appendChain(b []byte) []byte {
	le := binary.LittleEndian
	name := func(topic string, id snapshot.TopicID) {
		b = le.AppendUint32(b, uint32(len(topic)))
		b = append(b, topic...)
		b = append(b, id[:]...)
	}
	name(in.Topic, in.TopicID)
	name(in.NewTopic, in.NewID)
	b = le.AppendUint32(b, uint32(len(in.Partitions)))
	for _, p := range in.Partitions {
		b = le.AppendUint32(b, uint32(p.Partition))
		b = le.AppendUint64(b, uint64(p.From))
		b = le.AppendUint64(b, uint64(p.Next))
		b = le.AppendUint64(b, p.Fingerprint)
	}
	return b
}
