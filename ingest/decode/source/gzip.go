package source

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// ErrTrailing is the error for bytes after the end of a compressed file that are no further one.
var ErrTrailing = errors.New("bytes that are not compressed follow the compressed ones")

// Gzip decompresses one gzip file, or several that were concatenated. Unlike gzip.Reader it tells a
// file that is cut off from one that other bytes follow.
type Gzip struct {
	from *bufio.Reader
	z    *gzip.Reader
	err  error
}

// NewGzip returns a reader of the bytes that from has compressed.
func NewGzip(from *bufio.Reader) (*Gzip, error) {
	z, err := gzip.NewReader(from)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = ErrCut
	}
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &Gzip{from: from, z: z}, nil
}

// Read reads decompressed bytes.
func (g *Gzip) Read(p []byte) (n int, err error) {
	if g.err != nil {
		return 0, g.err
	}
	if n, err = g.z.Read(p); err == io.EOF {
		err = g.next()
	}
	g.err = err
	return n, err
}

// next begins the file after one that has ended. It returns io.EOF if there is none.
func (g *Gzip) next() error {
	magic, err := g.from.Peek(len(gzipMagic))
	switch {
	case len(magic) == 0:
		return err
	case string(magic) != gzipMagic:
		return ErrTrailing
	}
	if err := g.z.Reset(g.from); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

const gzipMagic = "\x1f\x8b"

// IsGzip reports whether a stream begins like a gzip file.
func IsGzip(b *bufio.Reader) bool {
	magic, _ := b.Peek(len(gzipMagic))
	return string(magic) == gzipMagic
}
