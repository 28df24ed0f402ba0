package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// WriteFile writes b to the named file. After a crash at any point, the file is
// either unchanged or complete. Only its owner can read it.
func WriteFile(name string, b []byte) error {
	return WriteStream(name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteStream is like WriteFile, for a file whose contents write produces. If write returns an
// error, no file is written.
func WriteStream(name string, write func(io.Writer) error) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp")
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return &fs.PathError{Op: "create", Path: name, Err: e.Err} // the temporary file means nothing to a user
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory durable, on systems that can sync a
// directory.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ReadFile reads the named file if it has at most limit bytes (0 means
// DefaultLimit).
func ReadFile(name string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %w: %d bytes, the limit is %d", name, ErrLimit, info.Size(), limit)
	}
	return os.ReadFile(name)
}
