package snapshot

import (
	"fmt"
	"io"
	"os"

	"github.com/accrete-ml/accrete/internal/outfile"
)

// WriteFile writes b to the named file. After a crash at any point, the file is
// either unchanged or complete. Only its owner can read it. A symbolic link stays one, and a device
// or a named pipe is written directly.
func WriteFile(name string, b []byte) error {
	return WriteStream(name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteStream is like WriteFile, for a file whose contents write produces. If write returns an
// error, no file is written.
func WriteStream(name string, write func(io.Writer) error) error { return outfile.Write(name, write) }

// ReadFile reads the named file if it has at most limit bytes (0 means
// DefaultLimit). It may be a pipe or a device.
func ReadFile(name string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %w: %d bytes, the limit is %d", name, ErrLimit, info.Size(), limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: %w: more than %d bytes", name, ErrLimit, limit)
	}
	return b, nil
}
