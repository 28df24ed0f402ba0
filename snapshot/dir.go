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

// Dir stores snapshots as files, for one process. A file name contains the step
// and the seq of its snapshot, so that the last file in name order is the newest.
type Dir struct {
	Path  string
	Keep  int   // number of newest snapshots to keep when saving another; 0 keeps all
	Limit int64 // largest file that is read, in bytes; 0 means DefaultLimit
}

func (d Dir) files() ([]string, error) {
	if _, err := os.Stat(d.Path); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(d.Path, "*.snap"))
}

// Save writes s and returns the name of the file. After a crash at any point,
// either the complete file exists or nothing that Newest would read.
func (d Dir) Save(s *Snapshot) (string, error) {
	b, err := Append(nil, s)
	if err != nil {
		return "", err
	}
	name := filepath.Join(d.Path, fmt.Sprintf("%016d-%016d.snap", s.Step, s.Seq))
	if err := WriteFile(name, b); err != nil {
		return "", err
	}
	return name, d.prune()
}

// WriteFile writes b to the named file. After a crash at any point, the file is
// either unchanged or complete. Only its owner can read it.
func WriteFile(name string, b []byte) error {
	return WriteStream(name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteStream is WriteFile for what write writes. If write returns an error, there is
// no file.
func WriteStream(name string, write func(io.Writer) error) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp")
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

// prune removes the snapshots beyond d.Keep and the partial files that a crash
// left.
func (d Dir) prune() error {
	names, err := filepath.Glob(filepath.Join(d.Path, "*.snap.*.tmp"))
	if err != nil {
		return err
	}
	if d.Keep > 0 {
		files, err := d.files()
		if err != nil {
			return err
		}
		names = append(names, files[:max(0, len(files)-d.Keep)]...)
	}
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// Newest returns the newest intact snapshot. skipped lists the newer files that
// are damaged, each with the damage. A snapshot that is intact but that this
// program or this limit cannot read is an error and is not skipped. The error is
// fs.ErrNotExist if there is no snapshot.
func (d Dir) Newest() (s *Snapshot, skipped []error, err error) {
	names, err := d.files()
	if err != nil {
		return nil, nil, err
	}
	for i := len(names) - 1; i >= 0; i-- {
		b, err := ReadFile(names[i], d.Limit)
		if err != nil {
			return nil, skipped, err
		}
		s, err := Decode(b, d.Limit)
		if err == nil {
			return s, skipped, nil
		}
		err = fmt.Errorf("%s: %w", names[i], err)
		if errors.Is(err, ErrTooNew) || errors.Is(err, ErrLimit) {
			return nil, skipped, err
		}
		skipped = append(skipped, err)
	}
	if len(skipped) > 0 {
		return nil, skipped, fmt.Errorf("no intact snapshot in %s: %w", d.Path, skipped[0])
	}
	return nil, nil, fmt.Errorf("no snapshot in %s: %w", d.Path, fs.ErrNotExist)
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
