package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is the compression of a batch. Its values are those of Kafka's record
// batches.
type Codec int8

// The codecs.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

func (c Codec) String() string {
	if c < 0 || int(c) >= len(codecNames) {
		return fmt.Sprintf("codec %d", int8(c))
	}
	return codecNames[c]
}

// errBomb reports data that decompresses to more than the limit.
var errBomb = fmt.Errorf("%w: it decompresses to more than %d MiB", ErrTooLarge, recordsLimit>>20)

// Readers and writers with large tables, which are reused for the next batch.
var (
	gzipReaders sync.Pool
	lz4Readers  sync.Pool
	zstdReaders sync.Pool // with concurrency 1, they start no goroutines
	zstdWriter  = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(4), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err)
		}
		return e
	})
)

// decompress returns the decompressed src in newly allocated memory, unless the
// codec is None. It returns errBomb before more than limit bytes are in memory.
func decompress(c Codec, src []byte, limit int) ([]byte, error) {
	switch c {
	case None:
		return src, nil
	case Gzip:
		z, _ := gzipReaders.Get().(*gzip.Reader)
		if z == nil {
			z = new(gzip.Reader)
		}
		defer gzipReaders.Put(z)
		if err := z.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		return readAll(z, 4*len(src), limit)
	case Snappy:
		return unsnappy(src, limit)
	case LZ4:
		z, _ := lz4Readers.Get().(*lz4.Reader)
		if z == nil {
			z = lz4.NewReader(nil)
		}
		defer lz4Readers.Put(z)
		z.Reset(bytes.NewReader(src))
		return readAll(z, 4*len(src), limit)
	case Zstd:
		z, _ := zstdReaders.Get().(*zstd.Decoder)
		if z == nil {
			var err error
			if z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(recordsLimit)); err != nil {
				return nil, err
			}
		}
		defer zstdReaders.Put(z)
		if err := z.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		b, err := readAll(z, 4*len(src), limit)
		if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = errBomb
		}
		return b, err
	}
	return nil, fmt.Errorf("compressed with an unknown codec: %v", c)
}

// readAll is io.ReadAll with a limit, beyond which it returns errBomb.
func readAll(r io.Reader, hint, limit int) ([]byte, error) {
	b := make([]byte, 0, max(min(hint, limit), 512))
	for {
		if len(b) == cap(b) {
			if len(b) >= limit {
				// Exactly limit bytes are allowed.
				var one [1]byte
				if n, err := io.ReadFull(r, one[:]); n > 0 {
					return nil, errBomb
				} else if err != io.EOF {
					return nil, err
				}
				return fit(b), nil
			}
			grown := make([]byte, len(b), min(2*cap(b), limit))
			copy(grown, b)
			b = grown
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return fit(b), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// fit returns b, copied to memory of its exact size if the unused capacity exceeds an
// eighth of its length.
func fit(b []byte) []byte {
	if cap(b)-len(b) <= len(b)/8 {
		return b
	}
	return append(make([]byte, 0, len(b)), b...)
}

var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

// unsnappy decompresses one block, or the framing of the Java library (xerial): a
// header of 16 bytes, then blocks preceded by their lengths.
func unsnappy(src []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(src, xerial) {
		return snappyBlock(nil, src, limit)
	}
	if len(src) < 16 {
		return nil, io.ErrUnexpectedEOF
	}
	src = src[16:]
	var out []byte
	for len(src) > 0 {
		if len(src) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		n := binary.BigEndian.Uint32(src)
		src = src[4:]
		if uint64(n) > uint64(len(src)) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if out, err = snappyBlock(out, src[:n], limit); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return out, nil
}

func snappyBlock(dst, src []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > limit-len(dst) {
		return nil, errBomb
	}
	if n > 64*len(src) { // 3 bytes of snappy decompress to at most 64
		return nil, snappy.ErrCorrupt
	}
	if dst == nil {
		return snappy.Decode(nil, src)
	}
	if cap(dst)-len(dst) < n {
		grown := make([]byte, len(dst), max(len(dst)+n, min(2*cap(dst), limit)))
		copy(grown, dst)
		dst = grown
	}
	if _, err := snappy.Decode(dst[len(dst):len(dst)+n], src); err != nil {
		return nil, err
	}
	return dst[:len(dst)+n], nil
}

// compress is the inverse of decompress.
func compress(c Codec, src []byte) ([]byte, error) {
	var b bytes.Buffer
	var w io.WriteCloser
	switch c {
	case None:
		return src, nil
	case Snappy:
		return snappy.Encode(nil, src), nil
	case Zstd:
		return zstdWriter().EncodeAll(src, nil), nil
	case Gzip:
		w = gzip.NewWriter(&b)
	case LZ4:
		w = lz4.NewWriter(&b)
	default:
		return nil, fmt.Errorf("unknown codec %v", c)
	}
	if _, err := w.Write(src); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
