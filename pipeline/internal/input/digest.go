package input

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
)

// HashRecord adds to h all that determines how r is read.
func HashRecord(h *xxhash.Digest, r *ingest.Record) {
	var n [8]byte
	field := func(b []byte) {
		size := uint64(len(b)) + 1 // 0 stands for an absent field
		if b == nil {
			size = 0
		}
		binary.LittleEndian.PutUint64(n[:], size)
		h.Write(n[:])
		h.Write(b)
	}
	binary.LittleEndian.PutUint64(n[:], uint64(r.Offset))
	h.Write(n[:])
	field(r.Key)
	field(r.Value)
	for _, hd := range r.Headers {
		field([]byte(hd.Key))
		field(hd.Value)
	}
}

// Fingerprint returns the digest of one record.
func Fingerprint(r *ingest.Record) uint64 {
	h := xxhash.New()
	HashRecord(h, r)
	return h.Sum64()
}
