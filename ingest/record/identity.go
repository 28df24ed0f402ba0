package record

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/accrete-ml/accrete/snapshot"
)

// ModelID identifies, in a prediction, the model that made it.
type ModelID struct {
	Name      string
	Step      int64               // mini-batches learned
	Lineage   snapshot.Hash       // hash chain over everything that was learned, in order
	LearnedTo []snapshot.Position // sorted by topic and partition
}

// LearnedTo returns the digest of positions that a prediction carries as
// "learned_to": the first 16 hexadecimal digits of the SHA-256 of the lines
//
//	topic/partition:next
//
// one for each partition, sorted by topic and partition.
func LearnedTo(positions []snapshot.Position) string {
	var b []byte
	for _, p := range positions {
		b = append(append(b, p.Topic...), '/')
		b = append(strconv.AppendInt(b, int64(p.Partition), 10), ':')
		b = append(strconv.AppendInt(b, p.Next, 10), '\n')
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
