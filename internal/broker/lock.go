package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// lock locks dir for this process. The lock ends with the process, so a
// remaining lock file does not block the next one. The data is readable by the
// directory's owner only.
func lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		f.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	data := filepath.Join(dir, "data")
	// #nosec G302 -- a directory
	if err := errors.Join(os.MkdirAll(data, 0o700), os.Chmod(data, 0o700)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (b *Broker) unlock() error {
	if b.lock == nil {
		return nil
	}
	return b.lock.Close()
}
