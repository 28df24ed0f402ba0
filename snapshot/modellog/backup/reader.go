package backup

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Reader reads a file. Its errors, apart from those of the underlying reader, wrap
// ErrCorrupt, ErrTruncated, ErrTooNew or ErrLimit of package snapshot.
type Reader struct {
	Header Header

	in      *bufio.Reader
	sum     hash.Hash
	records int64
	last    int64 // offset
	ended   bool
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, explained(err)
	}
	in := &Reader{in: bufio.NewReader(gz), sum: sha256.New(), last: -1}
	text, err := in.line()
	if err != nil {
		return nil, err
	}
	in.sum.Write(text)
	if err := json.Unmarshal(text, &in.Header); err != nil {
		return nil, fmt.Errorf("%w: not an export of a model log: %w", snapshot.ErrCorrupt, err)
	}
	return in, in.Header.check()
}

// Next returns the next record, and io.EOF once the trailer has confirmed that the file
// is complete. After an error the Reader cannot be used.
func (r *Reader) Next() (Record, error) {
	if r.ended {
		return Record{}, io.EOF
	}
	text, err := r.line()
	if err != nil {
		return Record{}, err
	}
	if bytes.HasPrefix(text, []byte(`{"records":`)) {
		return Record{}, r.end(text)
	}
	r.sum.Write(text)
	r.records++
	rec, err := r.parse(text)
	if err != nil {
		return Record{}, fmt.Errorf("record %d of the export: %w", r.records, err)
	}
	return rec, nil
}

func (r *Reader) parse(text []byte) (Record, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Record{}, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	if l.Offset <= r.last || l.Time < 0 || (len(l.Record) > 0) == (len(l.Chunk) > 0) {
		return Record{}, fmt.Errorf("%w: offset %d after %d, time %d, %d and %d bytes", snapshot.ErrCorrupt, l.Offset, r.last, l.Time, len(l.Record), len(l.Chunk))
	}
	r.last = l.Offset
	value := append(l.Chunk, l.Record...)
	rec, err := modellog.Parse([]byte(l.Type), value)
	if err != nil {
		return Record{}, err
	}
	if _, again, err := modellog.Encode(rec); err != nil || !bytes.Equal(again, value) {
		return Record{}, fmt.Errorf("%w: a %s: %w", snapshot.ErrTooNew, l.Type, errUnknown)
	}
	return Record{l.Offset, l.Time, len(value), rec}, nil
}

// end verifies the trailer, and that nothing follows it.
func (r *Reader) end(text []byte) error {
	var t trailer
	if err := json.Unmarshal(text, &t); err != nil || t.Records == nil || t.SHA256 == nil {
		return fmt.Errorf("%w: the trailer of the export", snapshot.ErrCorrupt)
	}
	sum := snapshot.Hash(r.sum.Sum(nil))
	if *t.Records != r.records || *t.SHA256 != sum {
		return fmt.Errorf("%w: the export has %d records with SHA-256 %v, and its trailer says %d with %v", snapshot.ErrCorrupt, r.records, sum, *t.Records, *t.SHA256)
	}
	if _, err := r.in.ReadByte(); err != io.EOF {
		if err == nil {
			err = fmt.Errorf("%w: something follows the trailer of the export", snapshot.ErrCorrupt)
		}
		return explained(err)
	}
	r.ended = true
	return io.EOF
}

// Sum returns the number of records and the SHA-256 of what was read.
func (r *Reader) Sum() (records int64, sum snapshot.Hash) {
	return r.records, snapshot.Hash(r.sum.Sum(nil))
}

// line returns the next line, including its newline.
func (r *Reader) line() ([]byte, error) {
	var text []byte
	for {
		part, err := r.in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return nil, fmt.Errorf("%w: a line of the export has more than %d bytes", snapshot.ErrLimit, maxLine)
		case err == nil:
			return text, nil
		case err == io.EOF:
			return nil, fmt.Errorf("%w: the export ends without its trailer", snapshot.ErrTruncated)
		case err != bufio.ErrBufferFull:
			return nil, explained(err)
		}
	}
}

// explained returns the sentinel for an error of package gzip.
func explained(err error) error {
	var flawed flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the export ends without its trailer", snapshot.ErrTruncated)
	case errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("%w: not an export of a model log: %w", snapshot.ErrCorrupt, err)
	case errors.Is(err, gzip.ErrChecksum), errors.As(err, &flawed):
		return fmt.Errorf("%w: the export: %w", snapshot.ErrCorrupt, err)
	}
	return err
}
