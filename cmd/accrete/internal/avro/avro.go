// Package avro reads object container files of Avro as JSON lines.
package avro

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/twmb/avro/ocf"
)

// Magic is the beginning of an object container file.
const Magic = "Obj\x01"

// Lines is an io.ReadCloser of the records of a file. Each record is a JSON object and a newline.
// Numbers of four bytes are widened. Times become RFC 3339 text, decimals numbers, bytes text, and
// a union becomes the value that is set. It must not be used concurrently.
type Lines struct {
	from   io.Closer
	reader *ocf.Reader
	out    []byte // what has not been returned yet
	at     int
	row    int64 // number of records that were read
	block  int64 // number of blocks that were begun
	end    error // of all further reads

	ignored func(name string) bool
}

// Open opens a file. Errors, including those of Read, say what is wrong with it. Values of the fields for
// which ignored is true are null if they cannot be read; nil: there are none.
func Open(path string, ignored func(name string) bool) (*Lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l, err := read(f)
	if err == nil {
		l.ignored = ignored
	}
	if err != nil {
		f.Close()
	}
	return l, err
}

// read reads the header of a file.
func read(f io.ReadCloser) (*Lines, error) {
	l := &Lines{from: f}
	zstd, err := ocf.ZstdCodec(nil, nil)
	if err != nil {
		return nil, err
	}
	var codecs []ocf.ReaderOpt
	for _, c := range []ocf.Codec{null{}, ocf.DeflateCodec(-1), ocf.SnappyCodec(), zstd} {
		codecs = append(codecs, ocf.WithCodec(counted{c, &l.block}))
	}
	l.reader, err = ocf.NewReader(f, codecs...)
	switch {
	// in a file of another kind, a length may exceed the size of the file
	case isEarly(err):
		return nil, errors.New("header: the file ends within it: it is truncated, or not a file of Avro")
	case err != nil && strings.Contains(err.Error(), "unknown codec"):
		return nil, fmt.Errorf("header: %w: write the file with null, deflate, snappy or zstandard", err)
	case err != nil:
		return nil, fmt.Errorf("header: %w", err)
	}
	return l, nil
}

func isEarly(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// early replaces an error that says that the file ends early with a plainer one.
func early(err error) error {
	if isEarly(err) {
		return errors.New("the file ends early: it is truncated")
	}
	return err
}

// Close closes the file. It is not needed after Read has returned an error or io.EOF.
func (l *Lines) Close() error {
	return errors.Join(l.reader.Close(), l.from.Close())
}

func (l *Lines) Read(p []byte) (int, error) {
	for l.at == len(l.out) && l.end == nil {
		l.out, l.at = l.out[:0], 0
		if l.end = l.fill(); l.end != nil {
			l.Close()
			if l.end != io.EOF {
				l.end = fmt.Errorf("after row %d, in block %d: %w", l.row, max(1, l.block), early(l.end))
			}
		}
	}
	if l.at == len(l.out) {
		return 0, l.end
	}
	n := copy(p, l.out[l.at:])
	l.at += n
	return n, nil
}

// lineBytes is the minimum number of bytes that are encoded at a time.
const lineBytes = 16 << 10

// fill encodes the next records. The error is io.EOF after the last.
func (l *Lines) fill() error {
	for len(l.out) < lineBytes {
		var v any
		if err := l.reader.Decode(&v); err != nil {
			if len(l.out) > 0 && err == io.EOF {
				return nil
			}
			return err
		}
		record, ok := v.(map[string]any)
		if !ok {
			return errors.New("its values are no records: want one record a row")
		}
		line, err := appendObject(l.out, record, 0, l.ignored)
		if err != nil {
			return err
		}
		l.out = append(line, '\n')
		l.row++
	}
	return nil
}

// counted is a Codec that counts the blocks.
type counted struct {
	ocf.Codec
	blocks *int64
}

func (c counted) DecompressBounded(src []byte, most int64) ([]byte, error) {
	*c.blocks++
	return c.Codec.(ocf.BoundedDecompressor).DecompressBounded(src, most)
}

// null is the Codec of blocks that are not compressed.
type null struct{}

func (null) Name() string                        { return "null" }
func (null) Compress(b []byte) ([]byte, error)   { return b, nil }
func (null) Decompress(b []byte) ([]byte, error) { return b, nil }
func (null) Close() error                        { return nil }
func (null) DecompressBounded(b []byte, most int64) ([]byte, error) {
	if most > 0 && int64(len(b)) > most {
		return nil, fmt.Errorf("the block has %d bytes, the limit is %d", len(b), most)
	}
	return b, nil
}
