package ingest

import (
	"encoding/binary"
	"fmt"
	"slices"
)

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
