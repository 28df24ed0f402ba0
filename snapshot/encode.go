package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// Append appends the file of s to dst. Equal snapshots have equal files. It
// returns an error if no file can hold s.
func Append(dst []byte, s *Snapshot) ([]byte, error) {
	if err := check(s); err != nil {
		return dst, fmt.Errorf("snapshot: %w", err)
	}
	// A part has the bytes or the array of a section, and its entry in the section table.
	type part struct {
		section
		data any
	}
	var parts []part
	blob := func(kind uint16, b []byte) {
		parts = append(parts, part{section{kind: kind, dtype: bytesType, rows: int64(len(b)), cols: 1}, b})
	}
	array := func(a learner.Array) {
		parts = append(parts, part{section{
			kind: arraySection, dtype: typeOf(a.Data), name: a.Name,
			rows: int64(a.Shape[0]), cols: int64(a.Shape[1]),
		}, a.Data})
	}
	blob(configSection, s.Config)
	blob(schemaSection, s.Schema)
	blob(learnedSection, appendPositions(nil, s.LearnedTo))
	for _, a := range s.State.Serving {
		array(a)
	}
	first := len(parts)
	blob(positionsSection, appendPositions(nil, s.Positions))
	for _, a := range s.State.Resuming {
		array(a)
	}
	blob(infoSection, appendInfo(nil, s.Info))
	if len(parts) > maxSections {
		return dst, fmt.Errorf("snapshot: %d arrays, the limit is %d", len(parts), maxSections)
	}

	header := appendHeader(nil, s)
	table := PreambleSize + int64(len(header))
	at := align(table + int64(len(parts))*entrySize)
	serving := int64(0)
	for i := range parts {
		if i == first {
			serving = at + SealSize
			at = align(serving)
		}
		p := &parts[i]
		p.flags = criticalSection
		p.offset = at
		p.length, _ = p.dtype.bytes(p.rows, p.cols)
		at = align(at + p.length)
	}

	start := len(dst)
	dst = slices.Grow(dst, int(at)+trailerSize)
	b := dst[start : start+int(at)+trailerSize]
	clear(b)
	copy(b[PreambleSize:], header)
	for i, p := range parts {
		data := b[p.offset : p.offset+p.length]
		appendValues(data[:0], p.data, 0, length(p.data))
		p.sum = crc32.Checksum(data, castagnoli)
		p.put(b[table+int64(i)*entrySize:])
	}
	resuming := hashPart(s.State.Resuming)
	preamble{
		minor: minor, fileLen: at + trailerSize, serving: serving,
		header: int64(len(header)), sections: len(parts), first: first,
		tableSum: crc32.Checksum(b[PreambleSize:table+int64(len(parts))*entrySize], castagnoli),
		state:    stateHash(s.Schema, hashPart(s.State.Serving), resuming), resuming: resuming,
	}.put(b)

	h := sha256.New()
	h.Write(b[:serving-SealSize])
	h.Sum(b[serving-SealSize : serving-SealSize])
	h.Write(b[serving-SealSize : at])
	h.Sum(b[at:at])
	binary.LittleEndian.PutUint64(b[at+32:], uint64(len(b)))
	copy(b[at+40:], magic)
	return dst[:start+len(b)], nil
}

func check(s *Snapshot) error {
	if len(s.Model) > MaxTopic {
		return fmt.Errorf("model name of %d bytes, the limit is %d", len(s.Model), MaxTopic)
	}
	if s.Epoch < 0 || s.Seq < 0 || s.Step < 0 {
		return fmt.Errorf("negative epoch, seq or step: %d, %d, %d", s.Epoch, s.Seq, s.Step)
	}
	if err := CheckConfig(s.Config); err != nil {
		return err
	}
	if err := checkJSON("schema", s.Schema, maxSchema); err != nil {
		return err
	}
	for _, ps := range [][]Position{s.Positions, s.LearnedTo} {
		if err := checkPositions(ps); err != nil {
			return err
		}
	}
	if len(s.Info.Writer) > maxHeader {
		return fmt.Errorf("writer of %d bytes is too long", len(s.Info.Writer))
	}
	return CheckState(s.State)
}

// CheckConfig accepts empty input, or one value of compact JSON within the size
// limit of a configuration.
func CheckConfig(b []byte) error { return checkJSON("configuration", b, maxConfig) }

// checkJSON accepts empty input, or one value without insignificant space. Only such a value comes
// back from a record of the model log byte for byte.
func checkJSON(what string, b []byte, limit int) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) > limit {
		return fmt.Errorf("%s of %d bytes, the limit is %d", what, len(b), limit)
	}
	if !json.Valid(b) {
		return fmt.Errorf("%s is not JSON", what)
	}
	quoted := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return fmt.Errorf("%s is not compact JSON: space at byte %d", what, i)
		}
	}
	return nil
}

func checkPositions(ps []Position) error {
	for i, p := range ps {
		if !ValidTopic(p.Topic) || p.Partition < 0 || p.Next < 0 {
			return fmt.Errorf("invalid position %d of %q-%d", p.Next, p.Topic, p.Partition)
		}
		if i > 0 && ps[i-1].Compare(p) >= 0 {
			return fmt.Errorf("position of %s-%d is out of order", p.Topic, p.Partition)
		}
	}
	return nil
}

// ValidTopic reports whether Kafka accepts the name.
func ValidTopic(name string) bool {
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return name != "" && len(name) <= MaxTopic
}

func appendPositions(b []byte, ps []Position) []byte {
	le := binary.LittleEndian
	for _, p := range ps {
		b = le.AppendUint16(b, uint16(len(p.Topic)))
		b = append(b, p.Topic...)
		b = append(b, p.TopicID[:]...)
		b = le.AppendUint32(b, uint32(p.Partition))
		b = le.AppendUint64(b, uint64(p.Next))
		b = le.AppendUint64(b, p.Fingerprint)
	}
	return b
}

func appendInfo(b []byte, i Info) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(i.Time))
	return append(b, i.Writer...)
}
