package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The layout that FORMAT.md specifies.
const (
	magic = "\x89ACRT\r\n\x1a"
	major = 1
	minor = 0

	PreambleSize = 128 // no file is smaller
	entrySize    = 64
	alignment    = 64
	SealSize     = 32 // size of the hash that ends the serving part
	trailerSize  = 48

	maxHeader   = 64 << 10
	maxSections = 1024
	maxName     = 24  // bytes of an array name
	MaxTopic    = 249 // bytes of a topic name, Kafka's limit
	maxConfig   = 256 << 10
	maxSchema   = 16 << 20

	// DefaultLimit is the size of the largest snapshot that is read if the caller
	// sets no other limit.
	DefaultLimit = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// preamble holds the first 128 bytes.
type preamble struct {
	minor    uint16
	fileLen  int64
	serving  int64 // length of the serving part, its seal included
	header   int64 // length of the header
	sections int
	first    int // number of sections in the serving part
	state    Hash
	tableSum uint32 // CRC-32C of the header and the section table
	resuming Hash   // hash of the resuming arrays, which is part of the state hash
}

func (p preamble) put(b []byte) {
	le := binary.LittleEndian
	copy(b, magic)
	le.PutUint16(b[8:], major)
	le.PutUint16(b[10:], p.minor)
	le.PutUint32(b[12:], 0) // flags
	le.PutUint64(b[16:], uint64(p.fileLen))
	le.PutUint64(b[24:], uint64(p.serving))
	le.PutUint32(b[32:], uint32(p.header))
	le.PutUint32(b[36:], uint32(p.sections))
	le.PutUint32(b[40:], uint32(p.first))
	le.PutUint32(b[44:], p.tableSum)
	copy(b[48:], p.state[:])
	copy(b[80:], p.resuming[:])
	le.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli))
}

// Begins reports whether b may be a snapshot file or the beginning of one. An empty file is
// neither.
func Begins(b []byte) bool {
	n := min(len(b), len(magic))
	return n > 0 && string(b[:n]) == magic[:n]
}

// readPreamble checks all that can be checked without the rest of the file.
func readPreamble(b []byte, limit int64) (p preamble, err error) {
	if len(b) > 0 && !Begins(b) {
		return p, fmt.Errorf("%w: not an Accrete snapshot: wrong magic number", ErrCorrupt)
	}
	if len(b) < PreambleSize {
		return p, fmt.Errorf("%w: %d bytes are too short for a preamble", ErrTruncated, len(b))
	}
	le := binary.LittleEndian
	if got, want := crc32.Checksum(b[:124], castagnoli), le.Uint32(b[124:]); got != want {
		return p, fmt.Errorf("%w: the preamble's checksum is %08x, want %08x", ErrCorrupt, got, want)
	}
	if v := le.Uint16(b[8:]); v > major {
		return p, fmt.Errorf("%w: format version %d, this program reads up to %d", ErrTooNew, v, major)
	} else if v == 0 {
		return p, fmt.Errorf("%w: format version 0", ErrCorrupt)
	}
	if flags := le.Uint32(b[12:]); flags != 0 {
		return p, fmt.Errorf("%w: unknown flags %#x", ErrTooNew, flags)
	}
	p.minor = le.Uint16(b[10:])
	fileLen, serving := le.Uint64(b[16:]), le.Uint64(b[24:])
	header, sections, first := le.Uint32(b[32:]), le.Uint32(b[36:]), le.Uint32(b[40:])
	switch {
	case fileLen > uint64(limit):
		return p, fmt.Errorf("%w: %d bytes, the limit is %d", ErrLimit, fileLen, limit)
	case header > maxHeader:
		return p, fmt.Errorf("%w: header of %d bytes, the limit is %d", ErrLimit, header, maxHeader)
	case sections > maxSections:
		return p, fmt.Errorf("%w: %d sections, the limit is %d", ErrLimit, sections, maxSections)
	case first >= sections || serving > fileLen || !zero(b[112:124]):
		return p, fmt.Errorf("%w: the preamble contradicts itself", ErrCorrupt)
	}
	p.fileLen, p.serving, p.header = int64(fileLen), int64(serving), int64(header)
	p.sections, p.first, p.tableSum = int(sections), int(first), le.Uint32(b[44:])
	p.state, p.resuming = Hash(b[48:]), Hash(b[80:])
	return p, nil
}

func (p preamble) version() string { return fmt.Sprintf("%d.%d", major, p.minor) }

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// The fields of the header, in this order.
const (
	modelField = 1 + iota
	epochField
	seqField
	stepField
	chainField
	lineageField
	rowsField
	configHashField

	criticalField = 1 << 15 // in a tag: a reader that does not know the field must stop
)

func appendHeader(b []byte, s *Snapshot) []byte {
	field := func(tag uint16, value []byte) {
		b = binary.LittleEndian.AppendUint16(b, tag)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
		b = append(b, value...)
	}
	number := func(tag uint16, v int64) {
		field(tag, binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
	field(modelField, []byte(s.Model))
	number(epochField, s.Epoch)
	number(seqField, s.Seq)
	number(stepField, s.Step)
	field(chainField, s.Chain[:])
	field(lineageField, s.Lineage[:])
	field(rowsField, s.Rows[:])
	field(configHashField, s.ConfigHash[:])
	return b
}

func readHeader(b []byte, s *Snapshot) error {
	numbers := [...]*int64{&s.Epoch, &s.Seq, &s.Step}
	hashes := [...]*Hash{&s.Chain, &s.Lineage, &s.Rows, &s.ConfigHash}
	last, seen := -1, 0
	for len(b) > 0 {
		if len(b) < 4 {
			return fmt.Errorf("%w: the header ends in the middle of a field", ErrCorrupt)
		}
		tag, n := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
		number := int(tag &^ criticalField)
		if b = b[4:]; n > len(b) || number <= last {
			return fmt.Errorf("%w: field %d of the header", ErrCorrupt, number)
		}
		value := b[:n]
		b, last = b[n:], number
		switch number {
		case modelField:
			s.Model = string(value)
			if n > MaxTopic {
				return fmt.Errorf("%w: model name of %d bytes", ErrCorrupt, n)
			}
		case epochField, seqField, stepField:
			if n != 8 || value[7] >= 1<<7 {
				return fmt.Errorf("%w: field %d of the header has the invalid value %x", ErrCorrupt, number, value)
			}
			*numbers[number-epochField] = int64(binary.LittleEndian.Uint64(value))
		case chainField, lineageField, rowsField, configHashField:
			if n != 32 {
				return fmt.Errorf("%w: field %d of the header has %d bytes", ErrCorrupt, number, n)
			}
			*hashes[number-chainField] = Hash(value)
		default:
			if tag&criticalField != 0 {
				return fmt.Errorf("%w: field %d of the header", ErrTooNew, number)
			}
			continue
		}
		seen++
	}
	if seen != configHashField {
		return fmt.Errorf("%w: the header is missing required fields", ErrCorrupt)
	}
	return nil
}
