package serve

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// ErrNoVersion is the error for a version that is not in the model log, or that is not a
// valid version.
var ErrNoVersion = errors.New("unknown version")

// Champion names the version that is currently served.
const Champion = "champion"

// loadedAtOnce is the number of past models that are kept in memory.
const loadedAtOnce = 4

// Archive loads past models from the snapshots that a model log still holds. It finds the
// snapshots by following their MANIFESTs from the newest to older ones. It is safe for
// concurrent use.
type Archive struct {
	log    kafkalog.Reader
	newest func() int64 // offset of the newest MANIFEST; -1: there is none

	enrich func(*Served) bool // gives a model the rows of its tables, and reports whether they are available; nil: models are not used to predict

	reading chan struct{} // held while the log is being read

	mu     sync.Mutex
	seen   int64     // newest() at the last update
	past   []past    // newest first
	whole  bool      // past reaches back to the beginning of the log
	loaded []*Served // most recently used first
}

// past is an older snapshot in the log.
type past struct {
	offset, previous int64 // offsets of its MANIFEST and of the previous one
	step             int64
	at               time.Time // when the MANIFEST was written
}

// NewArchive returns the Archive of a model log. newest returns the offset of the newest
// MANIFEST in the log, or -1 if there is none.
func NewArchive(c *ingest.Client, topic string, key ed25519.PublicKey, newest func() int64) *Archive {
	return &Archive{log: kafkalog.Reader{Client: c, Topic: topic, Key: key, Again: true}, newest: newest, reading: make(chan struct{}, 1)}
}

// Version returns the model of a version. A version is a step, which stands for its newest
// snapshot, whichever of them is pinned or in memory, or an RFC 3339 time, which stands for the
// newest snapshot written until then. The model is loaded unless it is in memory. The error is
// ErrNoVersion if there is no such snapshot.
func (a *Archive) Version(ctx context.Context, version string) (*Served, error) {
	step, err := strconv.ParseInt(version, 10, 64)
	if err == nil {
		return a.find(ctx, func(p past) bool { return p.step <= step }, func(p past) error {
			if p.step != step {
				return fmt.Errorf("%w %d: there is no snapshot of this step, the one before it is of step %d", ErrNoVersion, step, p.step)
			}
			return nil
		})
	}
	at, err := time.Parse(time.RFC3339, version)
	if err != nil {
		return nil, fmt.Errorf("%w %.100q: want a step, a time such as 2026-01-02T15:04:05Z, or %s", ErrNoVersion, version, Champion)
	}
	return a.find(ctx, func(p past) bool { return !p.at.After(at) }, nil)
}

// Ref returns a reference to the snapshot of a version.
func (a *Archive) Ref(ctx context.Context, version string) (modellog.Ref, error) {
	s, err := a.Version(ctx, version)
	if err != nil {
		return modellog.Ref{}, err
	}
	m, _, err := a.manifest(ctx, s.offset)
	if err != nil {
		return modellog.Ref{}, err
	}
	return modellog.RefTo(m, s.offset), nil
}

// At returns the model of the snapshot whose MANIFEST is at an offset.
func (a *Archive) At(ctx context.Context, offset int64) (*Served, error) {
	if m := a.inMemory(func(m *Served) bool { return m.offset == offset }); m != nil {
		return m, nil
	}
	return a.load(ctx, offset)
}

// Steps returns the steps of up to n snapshots that the log holds, newest first.
func (a *Archive) Steps(ctx context.Context, n int) (steps []int64, err error) {
	seen := 0
	_, err = a.walk(ctx, func(past) bool { seen++; return seen == n })
	if err != nil && !errors.Is(err, ErrNoVersion) {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.past[:min(n, len(a.past))] {
		steps = append(steps, p.step)
	}
	return steps, nil
}

// inMemory returns the loaded model for which is returns true. It returns nil if there is
// none, or if a snapshot has been written or rolled back since the log was last read.
func (a *Archive) inMemory(is func(*Served) bool) *Served {
	newest := a.newest()
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.loaded, is)
	if i < 0 || a.seen != newest {
		return nil
	}
	m := a.loaded[i]
	a.loaded = slices.Insert(slices.Delete(a.loaded, i, i+1), 0, m)
	return m
}

// find loads the newest snapshot that accept accepts, unless check returns an error for it.
func (a *Archive) find(ctx context.Context, accept func(past) bool, check func(past) error) (*Served, error) {
	p, err := a.walk(ctx, accept)
	if err == nil && check != nil {
		err = check(p)
	}
	if err != nil {
		return nil, err
	}
	return a.At(ctx, p.offset)
}

// lock waits until no other goroutine reads the log.
func (a *Archive) lock(ctx context.Context) error {
	select {
	case a.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *Archive) unlock() { <-a.reading }

// manifest reads the MANIFEST at an offset.
func (a *Archive) manifest(ctx context.Context, offset int64) (*modellog.Manifest, time.Time, error) {
	m, at, err := a.log.Manifest(ctx, offset)
	return m, time.UnixMilli(at), err
}

func (a *Archive) read(ctx context.Context, offset int64) (past, error) {
	m, at, err := a.manifest(ctx, offset)
	if err != nil {
		return past{}, err
	}
	if m.Previous >= offset {
		return past{}, fmt.Errorf("%w: the manifest at offset %d names the one at %d as the one before it", snapshot.ErrCorrupt, offset, m.Previous)
	}
	return past{offset, m.Previous, m.Step, at}, nil
}

// load reads a model from the log, verifies it and keeps it in memory.
func (a *Archive) load(ctx context.Context, offset int64) (*Served, error) {
	if err := a.lock(ctx); err != nil {
		return nil, err
	}
	defer a.unlock()
	if m := a.inMemory(func(m *Served) bool { return m.offset == offset }); m != nil { // another request has loaded it
		return m, nil
	}
	s, err := a.assemble(ctx, offset)
	var gap *ingest.GapError
	if errors.As(err, &gap) { // deleted in the meantime
		return nil, fmt.Errorf("%w: %w", ErrNoVersion, err)
	}
	if err != nil {
		return nil, err
	}
	if a.enrich != nil && !a.enrich(s) {
		return nil, errors.New("the rows of its tables (input.tables) are not those of the model that is served")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loaded = slices.Insert(a.loaded, 0, s)
	a.loaded = a.loaded[:min(len(a.loaded), loadedAtOnce)]
	return s, nil
}

func (a *Archive) assemble(ctx context.Context, offset int64) (*Served, error) {
	m, _, err := a.manifest(ctx, offset)
	if err != nil {
		return nil, err
	}
	s, err := a.log.Serving(ctx, m, offset)
	if err != nil {
		return nil, err
	}
	return servedAt(nil, m, s, offset)
}
