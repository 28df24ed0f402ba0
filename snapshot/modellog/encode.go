package modellog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
)

const (
	logVersion = 1

	maxRecord = 1 << 20 // bytes of a record's value
)

// Encode returns the key and the value of the record as Kafka stores them. It
// returns an error if no reader would accept r.
func Encode(r Record) (key, value []byte, err error) {
	key = []byte(r.Type())
	if err := checkRecord(r); err != nil {
		return nil, nil, fmt.Errorf("modellog: %s: %w", key, err)
	}
	if c, ok := r.(*Chunk); ok {
		value = c.encode()
	} else if value, err = encodeJSON(key, r); err != nil {
		return nil, nil, fmt.Errorf("modellog: %s: %w", key, err)
	}
	if err := checkSize(value); err != nil {
		return nil, nil, fmt.Errorf("modellog: %s: %w", key, err)
	}
	return key, value, nil
}

func encodeJSON(key []byte, r Record) ([]byte, error) {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, `{"type":%q,"version":%d,`, key, logVersion)
	head := buf.Len()
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	value := buf.Bytes()
	copy(value[1:], value[:head]) // over the opening brace of r
	return value[1 : len(value)-1], nil
}

func checkSize(value []byte) error {
	if len(value) > maxRecord {
		return fmt.Errorf("%w: record of %d bytes, the limit is %d", snapshot.ErrLimit, len(value), maxRecord)
	}
	return nil
}

// Parse reads the output of Encode. A Chunk shares the memory of value.
func Parse(key, value []byte) (Record, error) {
	r, err := parse(key, value)
	if l, ok := r.(*later); ok {
		return nil, l.err()
	}
	return r, err
}

// parse is Parse, but for a record of a later version it returns a *later.
func parse(key, value []byte) (Record, error) {
	if err := checkSize(value); err != nil {
		return nil, err
	}
	var r Record
	var err error
	if bytes.HasPrefix(value, []byte(chunkMagic)) {
		r, err = parseChunk(value)
	} else {
		r, err = parseJSON(value)
	}
	if err != nil {
		return nil, err
	}
	if string(key) != r.Type() {
		return nil, fmt.Errorf("%w: record of type %.300q with key %.300q", snapshot.ErrCorrupt, r.Type(), key)
	}
	if _, ok := r.(*later); ok {
		return r, nil
	}
	if err := checkRecord(r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", snapshot.ErrCorrupt, r.Type(), err)
	}
	return r, nil
}

func parseJSON(value []byte) (Record, error) {
	var head struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(value, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	r := newRecord(head.Type)
	if head.Version > logVersion {
		r = &later{typ: head.Type, version: head.Version}
	}
	if _, chunk := r.(*Chunk); r == nil || chunk || head.Version < 1 {
		return nil, fmt.Errorf("%w: %q of version %d", snapshot.ErrCorrupt, head.Type, head.Version)
	}
	if err := json.Unmarshal(value, r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", snapshot.ErrCorrupt, head.Type, err)
	}
	return r, nil
}

// later is a record of a version that this program cannot read. Type, version,
// epoch, nonce and signature have the same places in every version, so that a
// reader can decide whether the record counts.
type later struct {
	Owner
	Signed
	typ     string
	version int
}

func (l *later) Type() string   { return l.typ }
func (l *later) String() string { return fmt.Sprintf("unsupported version %d", l.version) }
func (l *later) check() error   { return nil }

func (l *later) err() error {
	return fmt.Errorf("%w: %q has version %d, this program reads up to %d", snapshot.ErrTooNew, l.typ, l.version, logVersion)
}
