package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
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
	if base > s.next { // the offsets in between were compacted, or the broker lost their records
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

// unread adds the records of a batch that decompresses to more than recordsLimit.
// Their offsets are known, but their contents are not.
func (s *scan) unread(batch []byte, count int, base int64) {
	err := fmt.Errorf("batch at offset %d: %w", base, errBomb)
	time := int64(binary.BigEndian.Uint64(batch[35:])) // the largest timestamp of the batch
	for offset := max(base, s.from); offset < base+int64(count) && s.cells < s.most; offset++ {
		s.next = offset + 1
		s.cells++
		s.records = append(s.records, Record{Offset: offset, Time: time, Unread: err})
	}
}
