package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The limits of one Poll. The records of a batch that exceeds recordsLimit are
// Unread. When one of the other two is reached, the rest of a response is left to
// the next Poll.
const (
	recordsLimit = 64 << 20 // bytes that a batch may decompress to
	enoughBytes  = 16 << 20 // decompressed bytes after which no further batch is read
	enoughCells  = 1 << 18  // records, plus half the number of headers
)

// A v2 record batch: 61 bytes of header, then the records, compressed or not.
// https://kafka.apache.org/documentation/#recordbatch
//
//	0 base offset      12 leader epoch   21 attributes         35 max timestamp  53 base sequence
//	8 length from 12   16 magic          23 last offset delta  43 producer id    57 records
//	                   17 crc from 21    27 base timestamp     51 producer epoch
const batchHeader = 61

const (
	codecMask      = 7
	logAppendTime  = 1 << 3
	transactional  = 1 << 4
	control        = 1 << 5
	checksummed    = 21      // the checksum covers everything from here on
	maxOffset      = 1 << 62 // so that sums of offsets do not overflow
	minRecordBytes = 7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A checksumError may be caused by the network, so the batch is fetched again.
type checksumError struct {
	offset    int64
	got, want uint32
}

func (e *checksumError) Error() string {
	return fmt.Sprintf("%v: checksum of the batch at offset %d is %08x, want %08x", ErrCorrupt, e.offset, e.got, e.want)
}

func (e *checksumError) Unwrap() error { return ErrCorrupt }

type abortedTransaction = kmsg.FetchResponseTopicPartitionAbortedTransaction

// errNoRoom reports that the budget has no room for the first batch of a response.
var errNoRoom = errors.New("no space left in the memory budget")

// A scan collects the records of one response. Their bytes are not copied: they
// point into the response or into the memory of a decompressed batch.
type scan struct {
	from    int64 // records before this one are dropped
	next    int64 // everything before this one has been processed
	missing []Gap // offsets in [from, next) that have no record at all
	epoch   int32 // leader epoch of the last batch processed; -1 before the first
	records []Record

	aborted []abortedTransaction // by first offset
	open    map[int64]bool       // producers inside an aborted transaction

	bytes   int // decompressed so far
	cells   int
	room    int64    // bytes that may be decompressed; 0: no budget sets a limit
	most    int      // limit of cells
	single  bool     // ends after the first decompressed batch
	plain   bool     // some records point into the response itself
	held    int64    // memory of the records
	answer  int64    // bytes of the response, which uncompressed records keep in memory
	headers []Header // the unused rest of a chunk
	names   map[string]string
}

func newScan(from int64, aborted []abortedTransaction) *scan {
	aborted = slices.Clone(aborted)
	slices.SortFunc(aborted, func(a, b abortedTransaction) int {
		return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1))
	})
	return &scan{from: from, next: from, epoch: -1, most: enoughCells, aborted: aborted, open: map[int64]bool{}, names: map[string]string{}}
}

// set reads the batches of b. The last one may be incomplete, because brokers fill
// a response up to its limit. No record of a damaged batch is returned. set
// returns the error of that batch, unless there are batches before it; in that
// case the next Poll returns it.
func (s *scan) set(b []byte) error {
	for first := true; len(b) >= 12 && s.cells < s.most && s.bytes < enoughBytes && !(s.single && s.bytes > 0); first = false {
		size := 12 + int64(int32(binary.BigEndian.Uint32(b[8:])))
		if size < batchHeader {
			return s.unlessFed(s.corrupt(b, "%d bytes are too short for a record batch", size))
		}
		if size > int64(len(b)) {
			if first {
				return s.corrupt(b, "it has %d bytes, but the response has %d", size, len(b))
			}
			break
		}
		records, next, missing := len(s.records), s.next, len(s.missing)
		if err := s.batch(b[:size:size]); err != nil {
			s.records, s.next, s.missing = s.records[:records], next, s.missing[:missing]
			return s.unlessFed(err)
		}
		if s.next > next {
			s.epoch = int32(binary.BigEndian.Uint32(b[12:]))
		}
		b = b[size:]
	}
	return nil
}

func (s *scan) unlessFed(err error) error {
	if s.next > s.from {
		return nil
	}
	return err
}

func (s *scan) corrupt(batch []byte, format string, args ...any) error {
	return fmt.Errorf("%w: batch at offset %d: %w", ErrCorrupt, int64(binary.BigEndian.Uint64(batch)), fmt.Errorf(format, args...))
}

func (s *scan) batch(b []byte) error {
	be := binary.BigEndian
	base := int64(be.Uint64(b))
	if magic := b[16]; magic != 2 {
		return s.corrupt(b, "message format %d, from before Kafka 0.11, is not supported", magic)
	}
	if got, want := crc32.Checksum(b[checksummed:], castagnoli), be.Uint32(b[17:]); got != want {
		return &checksumError{base, got, want}
	}
	var (
		attributes = be.Uint16(b[21:])
		delta      = int64(int32(be.Uint32(b[23:])))
		producer   = int64(be.Uint64(b[43:]))
		count      = int(int32(be.Uint32(b[57:])))
	)
	if base < 0 || base > maxOffset || delta < 0 {
		return s.corrupt(b, "invalid offsets: base %d, delta %d", base, delta)
	}
	last := base + delta
	if last < s.next {
		return nil // before the requested offset
	}
	if count < 0 || int64(count) > delta+1 {
		return s.corrupt(b, "%d records at %d offsets", count, delta+1)
	}
	if base > s.next { // the offsets between were compacted, or the broker lost them
		s.skip(base)
	}

	// As in Apache Kafka's consumer, a producer is inside an aborted transaction
	// from the first offset of the transaction to its marker.
	for len(s.aborted) > 0 && s.aborted[0].FirstOffset <= last {
		s.open[s.aborted[0].ProducerID] = true
		s.aborted = s.aborted[1:]
	}
	switch {
	case attributes&control != 0:
		delete(s.open, producer)
		s.next = last + 1
		return nil
	case attributes&transactional != 0 && s.open[producer]:
		s.next = last + 1
		return nil
	}

	records := b[batchHeader:]
	if codec := Codec(attributes & codecMask); codec != None && count > 0 {
		var err error
		limit := int64(recordsLimit)
		if s.room > 0 {
			limit = min(limit, s.room-int64(s.bytes))
			if s.plain {
				limit = max(0, limit-s.answer)
			}
		}
		records, err = decompress(codec, records, int(limit))
		switch {
		case err == errBomb && limit < recordsLimit:
			return errNoRoom
		case err == errBomb && int64(count) == delta+1:
			s.unread(b, count, base)
			return nil
		case err != nil:
			return s.corrupt(b, "%w", err)
		}
		s.bytes += cap(records)
	} else if count > 0 {
		if s.room > 0 && s.answer+int64(s.bytes) > s.room {
			return errNoRoom
		}
		s.plain = true
	}
	if count > len(records)/minRecordBytes {
		return s.corrupt(b, "%d records in %d bytes", count, len(records))
	}
	return s.read(b, records, count, base, last)
}

// unread returns the records of a batch that decompresses to more than
// recordsLimit. Their offsets are known, and their contents are not.
func (s *scan) unread(batch []byte, count int, base int64) {
	err := fmt.Errorf("batch at offset %d: %w", base, errBomb)
	time := int64(binary.BigEndian.Uint64(batch[35:])) // the largest timestamp of the batch
	for offset := max(base, s.from); offset < base+int64(count) && s.cells < s.most; offset++ {
		s.next = offset + 1
		s.cells++
		s.records = append(s.records, Record{Offset: offset, Time: time, Unread: err})
	}
}

// read decodes count records from r.
func (s *scan) read(batch, r []byte, count int, base, last int64) error {
	var (
		attributes = binary.BigEndian.Uint16(batch[21:])
		baseTime   = int64(binary.BigEndian.Uint64(batch[27:]))
		maxTime    = int64(binary.BigEndian.Uint64(batch[35:]))
	)
	s.records = slices.Grow(s.records, min(count, s.most-s.cells))
	for range count {
		if s.cells >= s.most {
			return nil
		}
		size, n := varint(r)
		if n <= 0 || size < 0 || size > int64(len(r)-n) {
			return s.corrupt(batch, "a record extends beyond the end of its batch")
		}
		p := r[n : n+int(size) : n+int(size)]
		r = r[n+int(size):]
		if len(p) == 0 {
			return s.corrupt(batch, "a record of no bytes")
		}
		p = p[1:] // attributes: none are defined
		dt, n := varint(p)
		if n <= 0 {
			return s.corrupt(batch, "invalid timestamp of a record")
		}
		p = p[n:]
		do, n := varint(p)
		if n <= 0 || do < 0 || do > last-base {
			return s.corrupt(batch, "invalid offset of a record")
		}
		p = p[n:]
		offset := base + do
		key, p, ok := field(p)
		if !ok {
			return s.corrupt(batch, "invalid key of record %d", offset)
		}
		value, p, ok := field(p)
		if !ok {
			return s.corrupt(batch, "invalid value of record %d", offset)
		}
		if offset < s.next {
			if offset < s.from {
				continue
			}
			return s.corrupt(batch, "record %d follows record %d: offsets must increase", offset, s.next-1)
		}
		headers, err := s.readHeaders(p)
		if err != nil {
			return s.corrupt(batch, "record %d: %w", offset, err)
		}
		time := baseTime + dt
		if attributes&logAppendTime != 0 {
			time = maxTime
		}
		s.skip(offset)
		s.next = offset + 1
		s.cells++
		s.records = append(s.records, Record{Offset: offset, Time: time, Key: key, Value: value, Headers: headers})
	}
	if len(r) != 0 {
		return s.corrupt(batch, "%d bytes after its last record", len(r))
	}
	s.skip(last + 1)
	return nil
}

// skip records that there are no records from s.next up to the offset to.
func (s *scan) skip(to int64) {
	if to <= s.next {
		return
	}
	if n := len(s.missing); n > 0 && s.missing[n-1].To == s.next {
		s.missing[n-1].To = to
	} else {
		s.missing = append(s.missing, Gap{s.next, to})
	}
	s.next = to
}

// readHeaders decodes the headers of a record, which are its last part.
func (s *scan) readHeaders(p []byte) ([]Header, error) {
	if len(p) == 1 && p[0] == 0 {
		return nil, nil
	}
	count, n := varint(p)
	if n <= 0 || count < 0 || count > int64(len(p)-n)/2 {
		return nil, fmt.Errorf("invalid number of headers")
	}
	p = p[n:]
	keep := int(min(count, MaxHeaders+1))
	if len(s.headers) < keep {
		s.headers = make([]Header, max(keep, 256))
	}
	kept := s.headers[:keep:keep]
	for i := range int(count) {
		key, rest, ok := field(p)
		if !ok || key == nil {
			return nil, fmt.Errorf("invalid name of a header")
		}
		value, rest, ok := field(rest)
		if !ok {
			return nil, fmt.Errorf("invalid value of a header")
		}
		p = rest
		if i < keep {
			kept[i] = Header{s.name(key), value}
		}
	}
	if len(p) != 0 {
		return nil, fmt.Errorf("%d bytes after its headers", len(p))
	}
	s.headers = s.headers[keep:]
	s.cells += (keep + 1) / 2
	return kept, nil
}

// name returns string(b). The first names are cached, so that each is allocated
// once.
func (s *scan) name(b []byte) string {
	if name, ok := s.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if len(s.names) < MaxHeaders {
		s.names[name] = name
	}
	return name
}

// field reads bytes that are preceded by their length, where -1 means null.
func field(p []byte) (b, rest []byte, ok bool) {
	size, n := varint(p)
	switch {
	case n <= 0 || size < -1 || size > int64(len(p)-n):
		return nil, nil, false
	case size == -1:
		return nil, p[n:], true
	}
	end := n + int(size)
	return p[n:end:end], p[end:], true
}

// varint is binary.Varint with a fast path for one byte.
func varint(b []byte) (int64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int64(b[0]>>1) ^ -int64(b[0]&1), 1
	}
	return binary.Varint(b)
}

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
