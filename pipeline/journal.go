package pipeline

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
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// journal is a learner's access to the model log. One append is outstanding at a
// time, in a single attempt. Unless it is acknowledged at the expected offset, the
// journal reads the log to find out whether the append took effect.
type journal struct {
	client   *ingest.Client
	producer *ingest.Producer
	topic    string
	report   func(event.Event)
	writer   string             // version of the program
	key      ed25519.PrivateKey // signs every record; nil: unsigned

	turn  chan struct{} // a lock: holds a token during a write, which lasts as long as the broker is unavailable
	log   *kafkalog.Log
	owner modellog.Owner // of this process; zero before claim

	starting bool  // continues a start that was interrupted
	lost     error // set for good when the claim is lost or the log is broken
}

// openJournal opens the model log and reads its tail, far enough back to have at least
// that many snapshots, or the whole log if it has fewer.
func openJournal(ctx context.Context, c Config, snapshots int) (*journal, error) {
	j, err := newJournal(ctx, c)
	if err != nil {
		return nil, err
	}
	return j, j.open(ctx, snapshots)
}

// newJournal returns a journal that has read nothing yet. If the log is configured to
// delete records, it returns both the journal and ErrLog.
func newJournal(ctx context.Context, c Config) (*journal, error) {
	topic := LogTopic(c.Model)
	log, err := kafkalog.Open(ctx, kafkalog.Config{
		Client: c.Client, Topic: topic, Keep: c.Keep, Key: c.VerifyKey, Tolerant: c.tolerant,
		Retry: func(ctx context.Context, f func() error) error { return input.Retry(ctx, c.Report, f) },
	})
	if log == nil {
		return nil, err
	}
	return &journal{client: c.Client, producer: c.Client.Producer(), topic: topic, report: c.Report,
		writer: c.Writer, key: c.SignKey, turn: make(chan struct{}, 1), log: log}, err
}

func (j *journal) open(ctx context.Context, snapshots int) error {
	return j.reading(func() error {
		return j.log.Tail(ctx, func(f *modellog.Fold) bool { return len(f.Snapshots()) >= snapshots }, j.see(nil))
	})
}

// readOn folds the records after the last one read, up to the current end of the log,
// and passes each of them to see.
func (j *journal) readOn(ctx context.Context, see kafkalog.See) error {
	return j.reading(func() error { return j.log.ReadOn(ctx, j.see(see)) })
}

// reading calls read, and repeats it if the log was trimmed beyond the position of the
// reader. The owner, which is then another process, has deleted old history.
func (j *journal) reading(read func() error) error {
	for {
		err := read()
		var gap *ingest.GapError
		if !errors.As(err, &gap) || planted.Fault("trim") {
			return err
		}
		j.log.Rewind(gap.LogStart)
	}
}

// see returns a callback that reports unreadable records before it calls see, which
// may be nil.
func (j *journal) see(see kafkalog.See) kafkalog.See {
	return func(r *ingest.Record, v modellog.Verdict) {
		if v.Record == nil {
			j.report(event.Unreadable{Offset: v.Offset, Why: v.Void})
		}
		if see != nil {
			see(r, v)
		}
	}
}

// lock locks the journal, or returns the error of ctx if that ends first.
func (j *journal) lock(ctx context.Context) error {
	select {
	case j.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *journal) unlock() { <-j.turn }

// confirm reads the log to its end and returns ErrFenced if another process has
// claimed it.
func (j *journal) confirm(ctx context.Context) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost == nil {
		if err := j.readOn(ctx, nil); err != nil {
			return err
		}
		j.lost = j.fenced()
	}
	return j.lost
}

// checkEvery is the interval at which the log is verified.
const checkEvery = time.Second

// watch verifies periodically, until ctx is done, that the log is complete and that
// this process still holds the claim.
func (j *journal) watch(ctx context.Context) error {
	t := time.NewTicker(checkEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
		if err := j.check(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// check returns an error if the log is broken or claimed by another process.
func (j *journal) check(ctx context.Context) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost != nil {
		return j.lost
	}
	err := j.reading(func() error { return j.log.Check(ctx, j.see(nil)) })
	if err == nil {
		err = j.fenced()
	}
	if errors.Is(err, ErrLog) || errors.Is(err, ErrFenced) {
		j.lost = err
	}
	return err
}

// knows reports whether m belongs to a BATCH of this history, or to one so old that
// the difference does not matter.
func (j *journal) knows(m marker) bool {
	j.turn <- struct{}{}
	defer j.unlock()
	if m.Seq <= j.log.Fold.Released() || j.log.Fold.IsAbandoned(m.Seq) {
		return true
	}
	chain, ok := j.log.Fold.ChainAt(m.Seq)
	return ok && chain == m.Chain
}

// fenced returns ErrFenced if another process holds the current claim.
func (j *journal) fenced() error {
	now := j.log.Fold.Claim()
	if now.Owner == j.owner || planted.Fault("owner") && now.Epoch == j.owner.Epoch {
		return nil
	}
	return fmt.Errorf("%w: %s has claimed the model %q (epoch %d) after this learner (epoch %d)", ErrFenced, cmp.Or(now.Host, "another learner"), j.topic, now.Epoch, j.owner.Epoch)
}
