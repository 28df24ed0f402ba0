package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
)

// walk returns the newest snapshot that accept accepts. It reads the chain of MANIFESTs as
// far back as necessary.
func (a *Archive) walk(ctx context.Context, accept func(past) bool) (past, error) {
	if err := a.lock(ctx); err != nil {
		return past{}, err
	}
	defer a.unlock()
	if err := a.update(ctx); err != nil {
		return past{}, err
	}
	for i := 0; ; i++ {
		if i == len(a.past) {
			if a.whole {
				return past{}, fmt.Errorf("%w: the log holds no snapshot so old", ErrNoVersion)
			}
			if err := a.extend(ctx); err != nil {
				return past{}, err
			}
			i--
			continue
		}
		if accept(a.past[i]) {
			return a.past[i], nil
		}
	}
}

// update removes the snapshots that were rolled back, and adds those written since the last
// update.
func (a *Archive) update(ctx context.Context) error {
	newest := a.newest()
	known := slices.DeleteFunc(slices.Clone(a.past), func(p past) bool { return p.offset > newest })
	var added []past
	at := newest
	for at >= 0 && len(known) > 0 && at > known[0].offset {
		p, err := a.read(ctx, at)
		if err != nil {
			return err
		}
		added, at = append(added, p), p.previous
	}
	known = slices.DeleteFunc(known, func(p past) bool { return p.offset > at }) // no longer part of the chain
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past, a.seen = append(added, known...), newest
	a.loaded = slices.DeleteFunc(a.loaded, func(m *Served) bool {
		return m.offset > at && !slices.ContainsFunc(added, func(p past) bool { return p.offset == m.offset })
	})
	if len(a.past) == 0 {
		a.whole = newest < 0
	}
	return nil
}

// extend adds the snapshot before the oldest known one.
func (a *Archive) extend(ctx context.Context) error {
	at := a.newest()
	if n := len(a.past); n > 0 {
		at = a.past[n-1].previous
	}
	p, err := past{}, error(nil)
	if at >= 0 {
		p, err = a.read(ctx, at)
	}
	var gap *ingest.GapError
	if err != nil && !errors.As(err, &gap) {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.whole = at < 0 || err != nil; !a.whole { // whole: older snapshots never existed or were deleted
		a.past = append(a.past, p)
	}
	return nil
}
