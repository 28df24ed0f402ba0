// Package journal gives a process access to a model log: it claims the log, appends to it, and
// restores the state that the log holds.
package journal

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// ErrFenced means that another learner has claimed the same model and is its
// writer now.
var ErrFenced = errors.New("fenced")

// Journal is a process's access to the model log. One append is outstanding at a
// time, in a single attempt. Unless it is acknowledged at the expected offset, the
// journal reads the log to find out whether the append took effect.
type Journal struct {
	Topic string
	Log   *kafkalog.Log
	Owner modellog.Owner // of this process; zero before Claim

	client   *ingest.Client
	producer *ingest.Producer
	report   func(event.Event)
	model    string
	writer   string             // version of the program
	sign     ed25519.PrivateKey // signs every record; nil: unsigned
	verify   ed25519.PublicKey  // verifies snapshots; nil: unverified

	turn chan struct{} // a lock: holds a token during a write, which lasts as long as the broker is unavailable

	starting bool  // continues a start that was interrupted
	lost     error // set for good when the claim is lost or the log is broken
}

// Open opens the model log and reads its tail, far enough back to have at least the given number of
// snapshots, or the whole log if it has fewer.
func Open(ctx context.Context, c model.Config, snapshots int) (*Journal, error) {
	j, err := Unread(ctx, c)
	if err != nil {
		return nil, err
	}
	return j, j.Tail(ctx, snapshots)
}

// OpenComplete opens the model log and reads all of it. It passes each record to see, which
// may be nil.
func OpenComplete(ctx context.Context, c model.Config, see kafkalog.See) (*Journal, error) {
	j, err := Unread(ctx, c)
	if err != nil {
		return nil, err
	}
	first, _, err := j.Log.Bounds(ctx)
	if err != nil {
		return nil, err
	}
	j.Log.Rewind(first)
	return j, j.ReadOn(ctx, see)
}

// Unread returns a journal that has read nothing yet. If the log is configured to
// delete records, it returns both the journal and ErrLog. If there is no log, it returns
// input.ErrTopic.
func Unread(ctx context.Context, c model.Config) (*Journal, error) { return unread(ctx, c, false) }

// Tolerant returns a journal that has read nothing yet, and that continues to read a broken
// log.
func Tolerant(ctx context.Context, c model.Config) (*Journal, error) { return unread(ctx, c, true) }

func unread(ctx context.Context, c model.Config, tolerant bool) (*Journal, error) {
	topic := model.LogTopic(c.Model)
	log, err := kafkalog.Open(ctx, kafkalog.Config{
		Client: c.Client, Topic: topic, Keep: c.Keep, Key: c.VerifyKey, Tolerant: tolerant,
		Retry: func(ctx context.Context, f func() error) error { return input.Retry(ctx, c.Report, f) },
	})
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return nil, fmt.Errorf("%w: the model log %q does not exist: no learner of this model has run", input.ErrTopic, topic)
	}
	if log == nil {
		return nil, err
	}
	return &Journal{
		Topic: topic, Log: log, client: c.Client, producer: c.Client.Producer(), report: c.Report,
		model: c.Model, writer: c.Writer, sign: c.SignKey, verify: c.VerifyKey, turn: make(chan struct{}, 1),
	}, err
}

// Tail reads the tail of the log, far enough back to have at least the given number of snapshots.
func (j *Journal) Tail(ctx context.Context, snapshots int) error {
	return j.Reading(func() error {
		return j.Log.Tail(ctx, func(f *modellog.Fold) bool { return len(f.Snapshots()) >= snapshots }, j.See(nil))
	})
}

// ReadOn folds the records after the last one read, up to the current end of the log,
// and passes each of them to see.
func (j *Journal) ReadOn(ctx context.Context, see kafkalog.See) error {
	return j.Reading(func() error { return j.Log.ReadOn(ctx, j.See(see)) })
}

// Reading calls read, and repeats it if the log was trimmed beyond the position of the reader: the
// owner, another process, has then deleted old history.
func (j *Journal) Reading(read func() error) error {
	for {
		err := read()
		var gap *ingest.GapError
		if !errors.As(err, &gap) || planted.Fault("trim") {
			return err
		}
		j.Log.Rewind(gap.LogStart)
	}
}

// See returns a callback that reports unreadable and void records before it calls see, which
// may be nil.
func (j *Journal) See(see kafkalog.See) kafkalog.See {
	return func(r *ingest.Record, v modellog.Verdict) {
		if v.Record == nil {
			j.report(event.Unreadable{Offset: v.Offset, Why: v.Void})
		}
		if v.Void != "" && j.Log.Fold.Seeded() { // until then, a MANIFEST may only be void because it needs an earlier part of the log
			j.report(event.Void{Offset: v.Offset, Type: v.Type, Why: v.Void})
		}
		if see != nil {
			see(r, v)
		}
	}
}

// lock locks the journal, or returns the error of ctx if that ends first.
func (j *Journal) lock(ctx context.Context) error {
	select {
	case j.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *Journal) unlock() { <-j.turn }

// Confirm reads the log to its end and returns ErrFenced if another process has
// claimed it.
func (j *Journal) Confirm(ctx context.Context) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost == nil {
		if err := j.ReadOn(ctx, nil); err != nil {
			return err
		}
		j.lost = j.fenced()
	}
	return j.lost
}

// CheckEvery is the interval at which the log is verified.
const CheckEvery = time.Second

// Watch verifies periodically, until ctx is done, that the log is complete and that this process
// still holds the claim. Each time, if the log has a snapshot, it calls serving with what scorers
// serve.
func (j *Journal) Watch(ctx context.Context, serving func(modellog.Choice)) error {
	t := time.NewTicker(CheckEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
		c, ok, err := j.check(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if ok {
			serving(c)
		}
	}
}

// check returns what scorers serve, as Serves does, or an error if the log is broken or
// claimed by another process.
func (j *Journal) check(ctx context.Context) (c modellog.Choice, ok bool, err error) {
	if err := j.lock(ctx); err != nil {
		return c, false, err
	}
	defer j.unlock()
	if j.lost != nil {
		return c, false, j.lost
	}
	err = j.Reading(func() error { return j.Log.Check(ctx, j.See(nil)) })
	if err == nil {
		err = j.fenced()
	}
	if errors.Is(err, kafkalog.ErrLog) || errors.Is(err, ErrFenced) {
		j.lost = err
	}
	if err == nil {
		c, ok = j.Log.Fold.Serves()
	}
	return c, ok, err
}

// Knows reports whether m belongs to a BATCH of this history. It also reports true for a BATCH so
// old that the difference does not matter.
func (j *Journal) Knows(m Marker) bool {
	j.turn <- struct{}{}
	defer j.unlock()
	if m.Seq <= j.Log.Fold.Released() || j.Log.Fold.IsAbandoned(m.Seq) {
		return true
	}
	chain, ok := j.Log.Fold.ChainAt(m.Seq)
	return ok && chain == m.Chain
}

// fenced returns ErrFenced if another process holds the current claim.
func (j *Journal) fenced() error {
	now := j.Log.Fold.Claim()
	if now.Owner == j.Owner || planted.Fault("owner") && now.Epoch == j.Owner.Epoch {
		return nil
	}
	if now.Epoch == 0 { // the fold has forgotten the claim, with a ROLLBACK to a place before those that it remembers
		return fmt.Errorf("%w: another process has claimed the model log %q after this learner (epoch %d) and rolled it back", ErrFenced, j.Topic, j.Owner.Epoch)
	}
	return fmt.Errorf("%w: %s has claimed the model log %q (epoch %d) after this learner (epoch %d)", ErrFenced, cmp.Or(now.Host, "another learner"), j.Topic, now.Epoch, j.Owner.Epoch)
}

// Serves returns what scorers serve. ok is false if there is no snapshot to serve, or if Serves
// would have to wait for an append.
func (j *Journal) Serves() (c modellog.Choice, ok bool) {
	select {
	case j.turn <- struct{}{}:
	default:
		return c, false
	}
	defer j.unlock()
	return j.Log.Fold.Serves()
}
