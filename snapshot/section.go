package snapshot

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// Kinds of section.
const (
	arraySection = 1 + iota
	configSection
	schemaSection
	learnedSection
	positionsSection
	infoSection

	criticalSection = 1 // flag: a reader that does not know the kind must stop
)

var sectionNames = [...]string{"?", "array", "config", "schema", "learned_to", "positions", "info"}

func sectionName(kind uint16) string {
	if int(kind) < len(sectionNames) {
		return sectionNames[kind]
	}
	return fmt.Sprintf("type %d", kind)
}

// section is an entry of the section table.
type section struct {
	kind       uint16
	dtype      dtype
	flags      byte
	name       string // of an array
	sum        uint32
	rows, cols int64
	offset     int64
	length     int64
}

func (s section) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint16(b, s.kind)
	b[2], b[3] = byte(s.dtype), s.flags
	copy(b[4:28], s.name)
	le.PutUint32(b[28:], s.sum)
	le.PutUint64(b[32:], uint64(s.rows))
	le.PutUint64(b[40:], uint64(s.cols))
	le.PutUint64(b[48:], uint64(s.offset))
	le.PutUint64(b[56:], uint64(s.length))
}

// readSection checks an entry for consistency; readTable checks its offset.
func readSection(b []byte) (s section, err error) {
	le := binary.LittleEndian
	s = section{
		kind: le.Uint16(b), dtype: dtype(b[2]), flags: b[3],
		name: strings.TrimRight(string(b[4:28]), "\x00"),
		sum:  le.Uint32(b[28:]),
		rows: int64(le.Uint64(b[32:])), cols: int64(le.Uint64(b[40:])),
		offset: int64(le.Uint64(b[48:])), length: int64(le.Uint64(b[56:])),
	}
	if s.kind == 0 || s.kind > infoSection {
		if s.flags&criticalSection != 0 {
			return s, fmt.Errorf("%w: %v", ErrTooNew, s)
		}
		return s, nil
	}
	if s.kind == arraySection {
		if err := checkName(s.name); err != nil {
			return s, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if s.dtype.size() == 0 {
			return s, fmt.Errorf("%w: %v of %v", ErrTooNew, s, s.dtype)
		}
	} else if s.name != "" || s.dtype != bytesType || s.cols != 1 {
		return s, fmt.Errorf("%w: the entry of %v", ErrCorrupt, s)
	}
	if n, ok := s.dtype.bytes(s.rows, s.cols); !ok || n != s.length {
		return s, fmt.Errorf("%w: %v has shape %d x %d but %d bytes", ErrCorrupt, s, s.rows, s.cols, s.length)
	}
	if s.flags != criticalSection {
		return s, fmt.Errorf("%w: unknown flags %#x of %v", ErrTooNew, s.flags, s)
	}
	return s, nil
}

// String names the section in messages.
func (s section) String() string {
	if s.kind == arraySection {
		return fmt.Sprintf("array %q", s.name)
	}
	return "section " + sectionName(s.kind)
}

// readTable reads the section table and checks that the parts of the file follow each other without
// overlap, with only zeros between them: the sections of the serving part, the seal, the other
// sections, and the trailer. It needs only the serving part of b.
func readTable(b []byte, p preamble) ([]section, error) {
	table := PreambleSize + p.header
	at := table + int64(p.sections)*entrySize // where the next part may begin
	if align(at) > p.serving-SealSize {
		return nil, fmt.Errorf("%w: the table is longer than the serving part", ErrCorrupt)
	}
	if p.serving > int64(len(b)) {
		return nil, fmt.Errorf("%w: %d bytes, the serving part has %d", ErrTruncated, len(b), p.serving)
	}
	if got := crc32.Checksum(b[PreambleSize:at], castagnoli); got != p.tableSum {
		return nil, fmt.Errorf("%w: the checksum of header and table is %08x, want %08x", ErrCorrupt, got, p.tableSum)
	}
	pad := func() error {
		from := at
		at = align(at)
		if n := int64(len(b)); !zero(b[min(from, n):min(at, n)]) {
			return fmt.Errorf("%w: padding at byte %d is not zero", ErrCorrupt, from)
		}
		return nil
	}
	sections := make([]section, p.sections)
	names := make(map[string]bool)
	for i := range sections {
		if err := pad(); err != nil {
			return nil, err
		}
		if i == p.first {
			if at += SealSize; at != p.serving {
				return nil, fmt.Errorf("%w: the serving part ends at byte %d, want %d", ErrCorrupt, at, p.serving)
			}
			if err := pad(); err != nil {
				return nil, err
			}
		}
		s, err := readSection(b[table+int64(i)*entrySize:][:entrySize])
		if err != nil {
			return nil, err
		}
		if s.offset != at || s.length < 0 || s.length > p.fileLen-at {
			return nil, fmt.Errorf("%w: %v has %d bytes at byte %d, want it at %d of %d", ErrCorrupt, s, s.length, s.offset, at, p.fileLen)
		}
		if s.kind == arraySection {
			if names[s.name] {
				return nil, fmt.Errorf("%w: two arrays are named %q", ErrCorrupt, s.name)
			}
			names[s.name] = true
		}
		at += s.length
		sections[i] = s
	}
	if err := pad(); err != nil {
		return nil, err
	}
	if at+trailerSize != p.fileLen {
		return nil, fmt.Errorf("%w: the sections end at byte %d of %d", ErrCorrupt, at, p.fileLen)
	}
	return sections, nil
}
