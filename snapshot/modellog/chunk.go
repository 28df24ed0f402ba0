package modellog

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/accrete-ml/accrete/snapshot"
)

const (
	chunkMagic  = "\x89ACK"
	chunkHeader = 64
	chunkSize   = 700 << 10 // bytes of a file in a chunk, so that the record stays below Kafka's 1 MB
	maxChunks   = 1 << 20
)

var crc32c = crc32.MakeTable(crc32.Castagnoli)

// Chunk is a piece of a snapshot file.
type Chunk struct {
	Owner
	Snapshot snapshot.ID `json:"snapshot"`
	Index    int         `json:"index"`
	Count    int         `json:"count"` // number of chunks of the snapshot
	Data     []byte      `json:"-"`     // 1 to 716800 bytes

	Challenger bool `json:"challenger,omitempty"` // the snapshot is a challenger
}

func (c *Chunk) String() string {
	return fmt.Sprintf("snapshot %v: %d of %d, %d bytes", c.Snapshot, c.Index+1, c.Count, len(c.Data))
}

func (c *Chunk) check() error {
	if c.Index < 0 || c.Index >= c.Count || c.Count > maxChunks || len(c.Data) < 1 || len(c.Data) > chunkSize {
		return fmt.Errorf("%v", c)
	}
	return nil
}

func (c *Chunk) encode() []byte {
	b := make([]byte, chunkHeader, chunkHeader+len(c.Data))
	le := binary.LittleEndian
	copy(b, chunkMagic)
	le.PutUint16(b[4:], logVersion)
	if c.Challenger {
		le.PutUint16(b[6:], 1)
	}
	le.PutUint64(b[8:], uint64(c.Epoch))
	copy(b[16:], c.Nonce[:])
	copy(b[32:], c.Snapshot[:])
	le.PutUint32(b[48:], uint32(c.Index))
	le.PutUint32(b[52:], uint32(c.Count))
	le.PutUint32(b[56:], uint32(len(c.Data)))
	b = append(b, c.Data...)
	le.PutUint32(b[60:], chunkSum(b))
	return b
}

// chunkSum returns the checksum of a chunk, excluding the four bytes of the
// checksum.
func chunkSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:60], crc32c), crc32c, b[chunkHeader:])
}

func parseChunk(b []byte) (Record, error) {
	le := binary.LittleEndian
	if len(b) < chunkHeader {
		return nil, fmt.Errorf("%w: chunk of %d bytes", snapshot.ErrTruncated, len(b))
	}
	if got, want := chunkSum(b), le.Uint32(b[60:]); got != want {
		return nil, fmt.Errorf("%w: the chunk's checksum is %08x, want %08x", snapshot.ErrCorrupt, got, want)
	}
	if v := le.Uint16(b[4:]); v > logVersion {
		return &later{Owner: chunkOwner(b), typ: "chunk", version: int(v)}, nil
	}
	if le.Uint16(b[4:]) == 0 || le.Uint16(b[6:]) > 1 || int64(le.Uint32(b[56:])) != int64(len(b)-chunkHeader) {
		return nil, fmt.Errorf("%w: invalid chunk header", snapshot.ErrCorrupt)
	}
	return &Chunk{
		Owner:    chunkOwner(b),
		Snapshot: snapshot.ID(b[32:48]),
		Index:    int(le.Uint32(b[48:])),
		Count:    int(le.Uint32(b[52:])),
		Data:     b[chunkHeader:],

		Challenger: le.Uint16(b[6:]) == 1,
	}, nil
}

func chunkOwner(b []byte) Owner {
	return Owner{Epoch: int64(binary.LittleEndian.Uint64(b[8:])), Nonce: snapshot.ID(b[16:32])}
}

// Split divides a file into the chunks to append, in order. All but the last have size bytes; a
// size of 0 means the maximum. Split also returns the Manifest that completes them, with the fields
// that are known before the append; Fold.Finish fills in the rest. The chunks share the memory of
// the file.
//
// Split does not verify the file. Its errors are those of DecodeServing, and ErrLimit for a file of
// more than DefaultLimit bytes, which Assemble would not read.
func Split(file []byte, o Owner, size int) ([]*Chunk, *Manifest, error) {
	if n := int64(len(file)); n > snapshot.DefaultLimit {
		return nil, nil, fmt.Errorf("%w: snapshot of %d bytes, the limit is %d", snapshot.ErrLimit, n, snapshot.DefaultLimit)
	}
	if size <= 0 || size > chunkSize {
		size = chunkSize
	}
	s, err := snapshot.Inspect(file)
	if err != nil {
		return nil, nil, err
	}
	m := &Manifest{
		Owner: o, Snapshot: snapshot.ID(s.SHA256[:16]), Model: s.Model, Seq: s.Seq, Step: s.Step,
		Chain: s.Chain, Lineage: s.Lineage, StateHash: s.StateHash,
		Size: s.Size, SHA256: s.SHA256,
		ServingSize: s.ServingSize, ServingSHA256: s.Seal,
		Chunks: (len(file) + size - 1) / size, ChunkSize: size,
		ConfigHash: s.ConfigHash, Config: s.Config,
	}
	chunks := make([]*Chunk, m.Chunks)
	for i := range chunks {
		chunks[i] = &Chunk{
			Owner: o, Snapshot: m.Snapshot, Index: i, Count: m.Chunks,
			Data: file[i*size : min((i+1)*size, len(file))],
		}
	}
	return chunks, m, nil
}

// SplitChallenger is like Split, for the file of a challenger. The caller fills in Refit.
func SplitChallenger(file []byte, o Owner, size int) ([]*Chunk, *Challenger, error) {
	chunks, m, err := Split(file, o, size)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range chunks {
		c.Challenger = true
	}
	return chunks, &Challenger{Manifest: *m}, nil
}

func sha(b []byte) snapshot.Hash { return sha256.Sum256(b) }

// ServingChunks returns the number of chunks, from the first, that hold the
// serving part.
func (m *Manifest) ServingChunks() int {
	return int((m.ServingSize + int64(m.ChunkSize) - 1) / int64(m.ChunkSize))
}

// Assemble joins a file from the values of its CHUNK records, in order, and
// verifies that it is the file that m describes. A limit of 0 means DefaultLimit.
func Assemble(m *Manifest, values [][]byte, limit int64) ([]byte, error) {
	b, err := assemble(m, values, m.Chunks, m.Size, limit)
	if err != nil {
		return nil, err
	}
	if sum := sha(b); sum != m.SHA256 {
		return nil, fmt.Errorf("%w: the chunks give a file with sha256 %v, want %v", snapshot.ErrCorrupt, sum, m.SHA256)
	}
	return b, nil
}

// AssembleServing is like Assemble, for the first ServingChunks chunks only. The result is input
// for DecodeServing.
func AssembleServing(m *Manifest, values [][]byte, limit int64) ([]byte, error) {
	b, err := assemble(m, values, m.ServingChunks(), m.ServingSize, limit)
	if err != nil {
		return nil, err
	}
	b = b[:m.ServingSize]
	seal := m.ServingSize - snapshot.SealSize
	if sum := sha(b[:seal]); sum != m.ServingSHA256 || snapshot.Hash(b[seal:]) != m.ServingSHA256 {
		return nil, fmt.Errorf("%w: the chunks give a serving part with sha256 %v, want %v", snapshot.ErrCorrupt, sum, m.ServingSHA256)
	}
	return b, nil
}

// assemble joins the first count chunks, which hold at least size bytes.
func assemble(m *Manifest, values [][]byte, count int, size, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = snapshot.DefaultLimit
	}
	if err := checkRecord(m); err != nil {
		return nil, fmt.Errorf("%w: manifest: %w", snapshot.ErrCorrupt, err)
	}
	if m.Size > limit {
		return nil, fmt.Errorf("%w: snapshot of %d bytes, the limit is %d", snapshot.ErrLimit, m.Size, limit)
	}
	if len(values) < count {
		return nil, fmt.Errorf("%w: %d of %d chunks", snapshot.ErrTruncated, len(values), count)
	} else if len(values) > count {
		return nil, fmt.Errorf("%w: %d chunks, want %d", snapshot.ErrMismatch, len(values), count)
	}
	chunks := make([]*Chunk, count)
	for i, v := range values {
		r, err := Parse([]byte("chunk"), v)
		if err != nil {
			return nil, fmt.Errorf("chunk %d of %d: %w", i+1, count, err)
		}
		c, ok := r.(*Chunk)
		want := int(min(int64(m.ChunkSize), m.Size-int64(i)*int64(m.ChunkSize)))
		if !ok || c.Owner != m.Owner || c.Snapshot != m.Snapshot || c.Index != i || c.Count != m.Chunks || len(c.Data) != want {
			return nil, fmt.Errorf("%w: expected chunk %d of %d (%d bytes) of snapshot %v, got: %v", snapshot.ErrMismatch, i+1, m.Chunks, want, m.Snapshot, r)
		}
		chunks[i] = c
	}
	b := make([]byte, 0, min(m.Size, size+int64(m.ChunkSize)))
	for _, c := range chunks {
		b = append(b, c.Data...)
	}
	return b, nil
}
