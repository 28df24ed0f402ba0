package serve

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Follower reads a model log as it grows and loads the snapshot to serve. It fetches
// only the serving part of snapshots. It must not be used concurrently.
type Follower struct {
	// Repaired, if not nil, is called when a broken log is valid again.
	Repaired func()

	// Chosen, if not nil, is called when the log names another snapshot to serve, or the
	// same one for another reason.
	Chosen func(modellog.Choice)

	// Judged, if not nil, is called with the step of a new snapshot and the verdict of the
	// gate on it.
	Judged func(step int64, g modellog.Gate)

	// Polled, if not nil, is called each time the log has been read, about twice a second.
	Polled func()

	config  kafkalog.Config
	damaged func(id string, err error)
	key     ed25519.PublicKey

	log     *kafkalog.Log // nil: not open
	checked time.Time
	last    int64          // offset of the manifest that was served last; -1: none
	served  snapshot.ID    // the snapshot that was served last
	model   *Served        // its model; nil: there is none
	bad     map[int64]bool // offsets of the manifests of damaged snapshots
	broken  *broken        // nil: the log is whole
	newest  atomic.Int64   // offset of the newest MANIFEST; -1: none
	judged  int64          // offset of the last MANIFEST for which Judged was called
	gone    int64          // offset of a MANIFEST whose snapshot was found deleted
	choice  atomic.Pointer[modellog.Choice]
	reader  kafkalog.Reader
}

// NewFollower returns a Follower of the model log in topic. A snapshot that cannot
// be used is reported to damaged, unless that is nil, and the one before it is used instead. If key is
// not nil, snapshots must be signed with its private key.
func NewFollower(c *ingest.Client, topic string, key ed25519.PublicKey, damaged func(id string, err error)) *Follower {
	f := &Follower{
		config:  kafkalog.Config{Client: c, Topic: topic, Keep: fallBack},
		damaged: damaged, key: key, last: -1, bad: map[int64]bool{},
		reader: kafkalog.Reader{Client: c, Topic: topic, Key: key}, judged: -1, gone: -1,
	}
	f.newest.Store(-1)
	return f
}

// Archive returns the Archive of the log. It may be used concurrently with Next, and knows
// the snapshots that Next has seen.
func (f *Follower) Archive() *Archive {
	return NewArchive(f.config.Client, f.config.Topic, f.key, f.newest.Load)
}

// Next waits until the snapshot to serve is another one than Next last returned, and
// loads it. Next can be called again after an error for which ingest.Temporary returns
// true, and after kafkalog.ErrLog to check whether the log is valid again.
func (f *Follower) Next(ctx context.Context) (*Served, error) {
	for {
		if f.log == nil {
			if err := f.open(ctx); err != nil {
				return nil, f.breaks(err)
			}
		}
		at, other := f.wanted()
		if other && at.Snapshot == f.served { // it was loaded before the log broke
			f.last = at.Offset
			continue
		}
		if !other {
			if err := f.poll(ctx); err != nil {
				return nil, f.breaks(err)
			}
			if f.Polled != nil {
				f.Polled()
			}
			continue
		}
		s, err := f.load(ctx, at)
		var gap *ingest.GapError
		switch {
		case err == nil:
			f.last, f.served, f.model = at.Offset, at.Snapshot, s
			f.whole()
			return s, nil
		case errors.As(err, &gap) && at.Offset != f.gone: // the owner of the log may have deleted it in the meantime
			f.log, f.gone = nil, at.Offset
		case errors.Is(err, kafkalog.ErrLog) || errors.Is(err, snapshot.ErrTooNew) || ingest.Temporary(err) || ctx.Err() != nil:
			return nil, f.breaks(err)
		default:
			f.bad[at.Offset] = true
			if f.damaged != nil {
				f.damaged(at.Snapshot.String(), err)
			}
			if _, older := f.wanted(); !older && f.last < 0 { // there may be an older one further back in the log
				f.log = nil
			}
		}
	}
}

// fallBack is the number of snapshots that are kept, including the newest, in case
// the newest cannot be used.
const fallBack = 3

// checkEvery is the minimum interval between checks of the log.
const checkEvery = time.Second

// open finds the newest snapshot by reading the log backwards from its end, so
// that the time it takes does not depend on the length of the log.
func (f *Follower) open(ctx context.Context) error {
	log, err := kafkalog.Open(ctx, f.config)
	if errors.Is(err, ingest.ErrUnknownTopic) && f.broken != nil {
		return f.broken.err
	}
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return fmt.Errorf("no learner of this model has run yet (%w %s): start one, or correct the name of the model", ingest.ErrUnknownTopic, f.config.Topic)
	}
	if err != nil {
		return err
	}
	if f.broken != nil {
		if err := f.broken.mended(ctx, log); err != nil {
			return err
		}
		f.last, f.bad = -1, map[int64]bool{}
	}
	f.log = log
	err = log.Tail(ctx, func(*modellog.Fold) bool {
		_, found := f.wanted()
		return found
	}, nil)
	var gap *ingest.GapError
	if errors.As(err, &gap) { // the owner of the log has deleted old history in the meantime
		f.log = nil
		return f.open(ctx)
	}
	if err == nil && f.broken != nil && f.broken.id == log.ID() {
		f.whole()
	}
	return err
}

// poll waits briefly for the next records of the log, and applies them. A rollback to a time before
// what was read leaves nothing to serve, unless the log is read again from further back.
func (f *Follower) poll(ctx context.Context) (err error) {
	seeded := f.log.Fold.Seeded()
	defer func() {
		if err == nil && f.log != nil && seeded && !f.log.Fold.Seeded() {
			f.log = nil
		}
	}()
	if time.Since(f.checked) > checkEvery {
		if err = f.log.Check(ctx, nil); err == nil {
			f.checked = time.Now()
		}
	} else {
		err = f.log.Poll(ctx, nil)
	}
	var gap *ingest.GapError
	if errors.As(err, &gap) { // the owner of the log has deleted old history in the meantime
		f.log = nil
		return f.open(ctx)
	}
	return err
}
