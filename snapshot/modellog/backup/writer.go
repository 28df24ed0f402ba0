package backup

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"io"

	"github.com/accrete-ml/accrete/snapshot"
)

// Writer writes a file. Without Close the file is incomplete, and a Reader reports that.
type Writer struct {
	gz      *gzip.Writer
	sum     hash.Hash
	records int64
}

// NewWriter writes the header to w. It sets the format and the version.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Format, h.Version = format, version
	if err := h.check(); err != nil {
		return nil, err
	}
	out := &Writer{gz: gzip.NewWriter(w), sum: sha256.New()}
	return out, out.line(h)
}

// Add writes a record of the log.
func (w *Writer) Add(offset, time int64, key, value []byte) error {
	l := line{Offset: offset, Time: time, Type: string(key)}
	if l.Type == "chunk" {
		l.Chunk = value
	} else {
		l.Record = value
	}
	w.records++
	return w.line(l)
}

// Close writes the trailer. It returns the number of records and the SHA-256 in it.
func (w *Writer) Close() (records int64, sum snapshot.Hash, err error) {
	w.sum.Sum(sum[:0])
	if err := w.line(trailer{&w.records, &sum}); err != nil {
		return 0, sum, err
	}
	return w.records, sum, w.gz.Close()
}

func (w *Writer) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.sum.Write(b.Bytes())
	_, err := w.gz.Write(b.Bytes())
	return err
}
