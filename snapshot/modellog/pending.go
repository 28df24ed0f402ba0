package modellog

import (
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
)

// pending describes the chunks of an incomplete snapshot that have counted so far.
type pending struct {
	id        snapshot.ID
	count     int
	chunkSize int // of the first chunk; all others but the last have the same size
	size      int64
	offsets   []int64
}

func (p *pending) chunk(offset int64, c *Chunk, size int) (void string) {
	if c.Index == 0 && c.Snapshot != p.id {
		*p = pending{id: c.Snapshot, count: c.Count, chunkSize: size}
	}
	switch {
	case c.Snapshot != p.id || c.Count != p.count:
		return "its snapshot has no first chunk"
	case c.Index < len(p.offsets):
		return "duplicate chunk"
	case c.Index > len(p.offsets):
		return fmt.Sprintf("chunk %d is missing", len(p.offsets)+1)
	case c.Index < c.Count-1 && size != p.chunkSize || size > p.chunkSize:
		return fmt.Sprintf("it has %d bytes, the first chunk has %d", size, p.chunkSize)
	}
	p.offsets = append(p.offsets, offset)
	p.size += int64(size)
	return ""
}

// differs returns why m does not complete p, or "" if it does.
func (p *pending) differs(m *Manifest) string {
	if p.id != m.Snapshot || len(p.offsets) != p.count {
		return fmt.Sprintf("incomplete: %d of %d chunks of snapshot %v", len(p.offsets), p.count, p.id)
	}
	if p.count != m.Chunks || p.size != m.Size || p.chunkSize != m.ChunkSize && m.Chunks > 1 || p.offsets[0] != m.FirstChunk {
		return "it contradicts its chunks"
	}
	return ""
}
