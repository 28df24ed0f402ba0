package modellog

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/accrete-ml/accrete/snapshot"
)

// NextChain is the chain of a BATCH or GAP that follows one with the chain last;
// before the first it is zero. It covers what the record decides, and not who
// wrote it.
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
	case *Gap:
		b = le.AppendUint64(b, uint64(r.Seq))
		part(r.Topic, r.TopicID, r.Partition, r.From, r.To)
	default:
		panic("modellog: a " + r.Type() + " is no part of the chain")
	}
	return sha256.Sum256(b)
}
