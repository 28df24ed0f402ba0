package ingest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// appendBatch encodes records as one batch of a producer. attributes are added to
// those of the codec.
func appendBatch(dst []byte, rs []Record, codec Codec, attributes uint16, producer int64, epoch int16, sequence int32) ([]byte, error) {
	if len(rs) > math.MaxInt32 {
		return dst, fmt.Errorf("%w: %d records in one batch", ErrTooLarge, len(rs))
	}
	be := binary.BigEndian
	start := len(dst)
	dst = append(dst, make([]byte, batchHeader)...)
	newest := rs[0].Time
	for i := range rs {
		newest = max(newest, rs[i].Time)
		dst = appendRecord(dst, &rs[i], rs[0].Time, i)
	}
	if codec != None {
		z, err := compress(codec, dst[start+batchHeader:])
		if err != nil {
			return dst[:start], err
		}
		dst = append(dst[:start+batchHeader], z...)
	}
	b := dst[start:]
	if len(b) > recordsLimit {
		return dst[:start], fmt.Errorf("%w: a batch of %d bytes", ErrTooLarge, len(b))
	}
	be.PutUint32(b[8:], uint32(len(b)-12))
	be.PutUint32(b[12:], math.MaxUint32) // leader epoch -1: the broker fills it in
	b[16] = 2
	be.PutUint16(b[21:], uint16(codec)|attributes)
	be.PutUint32(b[23:], uint32(len(rs)-1))
	be.PutUint64(b[27:], uint64(rs[0].Time))
	be.PutUint64(b[35:], uint64(newest))
	be.PutUint64(b[43:], uint64(producer))
	be.PutUint16(b[51:], uint16(epoch))
	be.PutUint32(b[53:], uint32(sequence))
	be.PutUint32(b[57:], uint32(len(rs)))
	be.PutUint32(b[17:], crc32.Checksum(b[checksummed:], castagnoli))
	return dst, nil
}

func appendRecord(dst []byte, r *Record, baseTime int64, i int) []byte {
	dst = binary.AppendVarint(dst, int64(bodySize(r, baseTime, i)))
	dst = append(dst, 0)
	dst = binary.AppendVarint(dst, r.Time-baseTime)
	dst = binary.AppendVarint(dst, int64(i))
	dst = appendField(dst, r.Key)
	dst = appendField(dst, r.Value)
	dst = binary.AppendVarint(dst, int64(len(r.Headers)))
	for _, h := range r.Headers {
		dst = binary.AppendVarint(dst, int64(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = appendField(dst, h.Value)
	}
	return dst
}

func appendField(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 1) // -1
	}
	return append(binary.AppendVarint(dst, int64(len(b))), b...)
}

// bodySize returns the size of a record in bytes, without its length field.
func bodySize(r *Record, baseTime int64, i int) int {
	n := 1 + varintSize(r.Time-baseTime) + varintSize(int64(i)) + fieldSize(r.Key) + fieldSize(r.Value) + varintSize(int64(len(r.Headers)))
	for _, h := range r.Headers {
		n += varintSize(int64(len(h.Key))) + len(h.Key) + fieldSize(h.Value)
	}
	return n
}

func fieldSize(b []byte) int {
	if b == nil {
		return 1
	}
	return varintSize(int64(len(b))) + len(b)
}

func varintSize(v int64) int {
	n, u := 1, uint64(v<<1)^uint64(v>>63)
	for ; u >= 0x80; u >>= 7 {
		n++
	}
	return n
}
