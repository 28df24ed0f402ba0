package input

import (
	"slices"

	"github.com/accrete-ml/accrete/ingest"
)

// MemoryOf returns the approximate number of bytes that a record takes in memory.
func MemoryOf(r *ingest.Record) int {
	n := 128 + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += 64 + len(h.Value)
	}
	return n
}

// AppendCopies appends deep copies of rs to dst.
func AppendCopies(dst, rs []ingest.Record) []ingest.Record {
	size, headers := 0, 0
	for i := range rs {
		size += len(rs[i].Key) + len(rs[i].Value)
		headers += len(rs[i].Headers)
		for _, h := range rs[i].Headers {
			size += len(h.Value)
		}
	}
	bytes, hs := make([]byte, 0, size), make([]ingest.Header, 0, headers)
	own := func(b []byte) []byte {
		if b == nil {
			return nil
		}
		at := len(bytes)
		bytes = append(bytes, b...)
		return bytes[at:len(bytes):len(bytes)]
	}
	dst = slices.Grow(dst, len(rs))
	for _, r := range rs {
		r.Key, r.Value = own(r.Key), own(r.Value)
		if r.Headers != nil {
			at := len(hs)
			for _, h := range r.Headers {
				hs = append(hs, ingest.Header{Key: h.Key, Value: own(h.Value)})
			}
			r.Headers = hs[at:len(hs):len(hs)]
		}
		dst = append(dst, r)
	}
	return dst
}
