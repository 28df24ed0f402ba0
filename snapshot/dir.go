package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Dir keeps snapshots as files, for one process. A file's name has the step and
// the seq that the snapshot stands at, so that the last in name order is the
// newest.
type Dir struct {
	Path  string
	Keep  int   // newest snapshots to leave when saving another; 0 keeps all
	Limit int64 // largest file that is read; 0 is DefaultLimit
}

func (d Dir) files() ([]string, error) {
	if _, err := os.Stat(d.Path); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(d.Path, "*.snap"))
}

// Save writes s so that a crash at any point leaves either all of it or nothing
// that Newest would read. It returns the name of the file.
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

// WriteFile writes b to the named file so that a crash at any point leaves the
// file as it was or with all of b. Nobody but its owner can read it.
func WriteFile(name string, b []byte) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory durable, where a directory can be
// synced.
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

// prune removes what is not to be kept, and what a crash left half written.
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

// Newest is the newest snapshot that is whole. The files that are newer and
// damaged are in skipped, with what is wrong with each. One that is whole but
// cannot be read by this program, or under this limit, is an error and not
// skipped. The error is fs.ErrNotExist if there is no snapshot at all.
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
		return nil, skipped, fmt.Errorf("no whole snapshot in %s: %w", d.Path, skipped[0])
	}
	return nil, nil, fmt.Errorf("no snapshot in %s: %w", d.Path, fs.ErrNotExist)
}

// ReadFile reads the named file if it has no more than limit bytes (0:
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
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d are read", name, ErrLimit, info.Size(), limit)
	}
	return os.ReadFile(name)
}
