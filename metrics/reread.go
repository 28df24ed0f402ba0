package metrics

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// rereadEvery is the minimum interval between checks of whether files have changed.
const rereadEvery = time.Second

// reread is a value that is read from files, and read again when one of them changes.
// It is safe for concurrent use.
type reread[T any] struct {
	paths   []string
	make    func() (T, error)
	trouble func(error) // called with each error after the first value

	mu     sync.Mutex
	value  T
	stamps []stamp
	looked time.Time
	failed string // last error that was reported
}

// stamp identifies the contents of a file.
type stamp struct {
	modified time.Time
	size     int64
}

// newReread returns a reread with the current value.
func newReread[T any](trouble func(error), make func() (T, error), paths ...string) (*reread[T], error) {
	r := &reread[T]{paths: paths, make: make, trouble: trouble, looked: time.Now()}
	var err error
	if r.stamps, err = r.look(); err != nil {
		return nil, err
	}
	r.value, err = make()
	return r, err
}

func (r *reread[T]) look() (stamps []stamp, err error) {
	for _, path := range r.paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		stamps = append(stamps, stamp{info.ModTime(), info.Size()})
	}
	return stamps, nil
}

// get returns the value for the current files or, if they cannot be used, the last value that
// could be read.
func (r *reread[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) < rereadEvery {
		return r.value
	}
	r.looked = time.Now()
	if err := r.refresh(); err == nil {
		r.failed = ""
	} else if text := err.Error(); text != r.failed && r.trouble != nil {
		r.failed = text
		r.trouble(fmt.Errorf("%w: the previous contents remain in use", err))
	}
	return r.value
}

func (r *reread[T]) refresh() error {
	stamps, err := r.look()
	if err != nil {
		return err
	}
	same := true
	for i, s := range stamps {
		same = same && s == r.stamps[i]
	}
	if same && r.failed == "" {
		return nil
	}
	value, err := r.make()
	if err != nil {
		return err
	}
	r.value, r.stamps = value, stamps
	return nil
}
