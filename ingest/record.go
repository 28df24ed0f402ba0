package ingest

// Record is one record of a topic. Kafka tells a key or value that is null
// from an empty one, and so does a nil slice from an empty one here.
type Record struct {
	Offset  int64
	Time    int64 // milliseconds since 1970, as the producer or the broker set it; -1 if neither did
	Key     []byte
	Value   []byte
	Headers []Header // the first MaxHeaders+1 of a record that has more

	// Unread is why neither key nor value nor headers of the record were read,
	// because its batch decompresses to more than is; nil if they were.
	Unread error
}

// Size is the number of bytes that r takes in a topic, as a batch by itself and
// without compression: what a topic's max.message.bytes is compared with.
func (r *Record) Size() int {
	n := bodySize(r, r.Time, 0)
	return batchHeader + varintSize(int64(n)) + n
}

type Header struct {
	Key   string
	Value []byte
}

// MaxHeaders is how many headers a record may have. One that has more is read
// with MaxHeaders+1, so that whoever judges records can see it and memory is
// bounded.
const MaxHeaders = 64
