package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// ModelID identifies, in a prediction, the model that made it.
type ModelID struct {
	Name      string
	Step      int64    // mini-batches learned
	Lineage   [32]byte // hash chain over everything that was learned, in order
	LearnedTo []Offset // sorted by topic and partition
}

// Offset is a position in an input topic: the next offset of a partition.
type Offset struct {
	Topic     string
	Partition int32
	Next      int64
}

// LearnedTo returns the digest of positions that a prediction carries as
// "learned_to": the first 16 hexadecimal digits of the SHA-256 of the lines
//
//	topic/partition:next
//
// one for each partition, sorted by topic and partition.
func LearnedTo(offsets []Offset) string {
	var b []byte
	for _, o := range offsets {
		b = append(append(b, o.Topic...), '/')
		b = append(strconv.AppendInt(b, int64(o.Partition), 10), ':')
		b = append(strconv.AppendInt(b, o.Next, 10), '\n')
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
