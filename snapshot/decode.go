package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// Decode reads a whole file. It rejects a file of more than limit bytes (0 means DefaultLimit),
// allocates little more than the size of the file, and verifies everything, including the state
// hash. The snapshot shares no memory with b.
func Decode(b []byte, limit int64) (*Snapshot, error) {
	f, err := open(b, limit)
	if err != nil {
		return nil, err
	}
	if err := f.verify(); err != nil {
		return nil, err
	}
	s, err := f.read(f.sections)
	if err != nil {
		return nil, err
	}
	if hashPart(s.State.Resuming) != f.resuming {
		return nil, fmt.Errorf("%w: the resuming part does not match state %v", ErrMismatch, f.state)
	}
	return s, f.checkState(s)
}

// DecodeServing reads only the serving part of a file; the rest of the file may be missing.
// State.Resuming, Positions and Info stay empty. Otherwise it works like Decode.
func DecodeServing(b []byte, limit int64) (*Snapshot, error) {
	f, err := open(b, limit)
	if err != nil {
		return nil, err
	}
	if err := f.verifyServing(); err != nil {
		return nil, err
	}
	s, err := f.read(f.sections[:f.first])
	if err != nil {
		return nil, err
	}
	return s, f.checkState(s)
}

// file is a file with a valid layout. Its contents are not verified yet.
type file struct {
	preamble
	sections []section
	b        []byte // at least the serving part
}

func open(b []byte, limit int64) (f file, err error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	if f.preamble, err = readPreamble(b, limit); err != nil {
		return f, err
	}
	f.b = b
	f.sections, err = readTable(b, f.preamble)
	return f, err
}

// verify checks a whole file against its trailer and its seal.
func (f file) verify() error {
	if n := int64(len(f.b)); n < f.fileLen {
		return fmt.Errorf("%w: %d of %d bytes", ErrTruncated, n, f.fileLen)
	} else if n > f.fileLen {
		return fmt.Errorf("%w: %d bytes after the trailer", ErrCorrupt, n-f.fileLen)
	}
	end := f.fileLen - trailerSize
	trailer := f.b[end:]
	if binary.LittleEndian.Uint64(trailer[32:]) != uint64(f.fileLen) || string(trailer[40:]) != magic {
		return fmt.Errorf("%w: the trailer is missing", ErrCorrupt)
	}
	seal := f.serving - SealSize
	h := sha256.New()
	h.Write(f.b[:seal])
	sealed := bytes.Equal(h.Sum(nil), f.b[seal:f.serving])
	h.Write(f.b[seal:end])
	if !sealed || !bytes.Equal(h.Sum(nil), trailer[:32]) {
		return f.damage(f.sections)
	}
	return nil
}

// verifyServing checks the serving part against its seal.
func (f file) verifyServing() error {
	seal := f.serving - SealSize
	sum := sha256.Sum256(f.b[:seal])
	if !bytes.Equal(sum[:], f.b[seal:f.serving]) {
		return f.damage(f.sections[:f.first])
	}
	return nil
}

// damage returns the error for a file with a wrong hash. If the checksum of a
// section is wrong too, the error names the section.
func (f file) damage(sections []section) error {
	for _, s := range sections {
		if err := f.checkSum(s); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the hash of the contents does not match", ErrCorrupt)
}

func (f file) checkSum(s section) error {
	if got := crc32.Checksum(f.data(s), castagnoli); got != s.sum {
		return fmt.Errorf("%w: the checksum of %v is %08x, want %08x", ErrCorrupt, s, got, s.sum)
	}
	return nil
}

func (f file) data(s section) []byte { return f.b[s.offset : s.offset+s.length] }

// read builds a snapshot from the header and the given sections, which are the
// first ones of the file.
func (f file) read(sections []section) (*Snapshot, error) {
	s := &Snapshot{StateHash: f.state}
	if err := readHeader(f.b[PreambleSize:PreambleSize+f.header], s); err != nil {
		return nil, err
	}
	want := map[uint16]bool{configSection: true, schemaSection: true, learnedSection: true}
	for i, sec := range sections {
		if i == f.first {
			if len(want) > 0 {
				break
			}
			want = map[uint16]bool{positionsSection: true, infoSection: true}
		}
		if err := f.checkSum(sec); err != nil {
			return nil, err
		}
		if sec.kind != arraySection && sec.kind <= infoSection {
			if !want[sec.kind] {
				return nil, fmt.Errorf("%w: %v is out of place", ErrCorrupt, sec)
			}
			delete(want, sec.kind)
		}
		if err := s.fill(sec, f.data(sec), i < f.first); err != nil {
			return nil, fmt.Errorf("%w: %v: %w", ErrCorrupt, sec, err)
		}
	}
	if len(want) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(want))) // the same for every reader
		return nil, fmt.Errorf("%w: section %s is missing", ErrCorrupt, sectionName(first))
	}
	return s, nil
}

// fill reads one section into s. Its errors do not name the section.
func (s *Snapshot) fill(sec section, b []byte, serving bool) (err error) {
	switch sec.kind {
	case configSection:
		err = checkJSON("text", b, maxConfig)
		s.Config = append([]byte(nil), b...)
	case schemaSection:
		err = checkJSON("text", b, maxSchema)
		s.Schema = append([]byte(nil), b...)
	case learnedSection:
		s.LearnedTo, err = readPositions(b)
	case positionsSection:
		s.Positions, err = readPositions(b)
	case infoSection:
		s.Info, err = readInfo(b)
	case arraySection:
		a := learner.Array{Name: sec.name, Shape: [2]int{int(sec.rows), int(sec.cols)}, Data: readValues(sec.dtype, b)}
		if serving {
			s.State.Serving = append(s.State.Serving, a)
		} else {
			s.State.Resuming = append(s.State.Resuming, a)
		}
	}
	return err
}

// checkState checks the schema and the serving arrays against the state hash. It uses the hash of
// the resuming arrays that the file states, and does not verify it.
func (f file) checkState(s *Snapshot) error {
	if got := stateHash(s.Schema, hashPart(s.State.Serving), f.resuming); got != f.state {
		return fmt.Errorf("%w: the arrays have state hash %v, want %v", ErrMismatch, got, f.state)
	}
	return nil
}

func readPositions(b []byte) ([]Position, error) {
	const fixed = 2 + 16 + 4 + 8 + 8
	le := binary.LittleEndian
	if len(b) == 0 {
		return nil, nil
	}
	ps := make([]Position, 0, len(b)/(fixed+1))
	for len(b) > 0 {
		if len(b) < fixed || len(b) < fixed+int(le.Uint16(b)) {
			return nil, fmt.Errorf("ends in the middle of a position")
		}
		n := int(le.Uint16(b))
		p := Position{Topic: string(b[2 : 2+n])}
		b = b[2+n:]
		p.TopicID = TopicID(b[:16])
		p.Partition = int32(le.Uint32(b[16:]))
		p.Next = int64(le.Uint64(b[20:]))
		p.Fingerprint = le.Uint64(b[28:])
		b = b[36:]
		ps = append(ps, p)
	}
	return ps, checkPositions(ps)
}

func readInfo(b []byte) (Info, error) {
	if len(b) < 8 || len(b) > 8+maxHeader {
		return Info{}, fmt.Errorf("%d bytes", len(b))
	}
	return Info{Time: int64(binary.LittleEndian.Uint64(b)), Writer: string(b[8:])}, nil
}
