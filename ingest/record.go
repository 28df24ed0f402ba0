package ingest

// Record is one record of a topic. A nil Key or Value is null in Kafka, which is
// not the same as an empty one.
type Record struct {
	Offset  int64
	Time    int64 // timestamp in milliseconds since 1970, set by the producer or the broker; -1 if neither did
	Key     []byte
	Value   []byte
	Headers []Header // at most the first MaxHeaders+1

	// Unread, if not nil, is the reason why the record has no key, value and
	// headers: its batch decompresses to more than the limit.
	Unread error
}

// Size returns the number of bytes of r in an uncompressed batch by itself, which
// is compared with a topic's max.message.bytes.
func (r *Record) Size() int {
	n := bodySize(r, r.Time, 0)
	return batchHeader + varintSize(int64(n)) + n
}

// Header is a header of a record. A record may have several with the same Key.
type Header struct {
	Key   string
	Value []byte
}

// MaxHeaders is the maximum number of headers of a record. A record with more is
// read with MaxHeaders+1, so that memory is bounded and the caller can reject the
// record.
const MaxHeaders = 64
