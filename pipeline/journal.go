package pipeline

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// journal is a learner's hold on the model log. One append is outstanding at a
// time, in one attempt; whatever comes back but an ack at the expected offset,
// the log is read and decides.
type journal struct {
	client   *ingest.Client
	producer *ingest.Producer
	topic    string
	report   func(Event)
	writer   string             // version of the program
	key      ed25519.PrivateKey // nil, or what every record is signed with

	turn  chan struct{} // holds a token while somebody writes, which may take as long as the broker is away
	log   *kafkalog.Log
	owner modellog.Owner // ours; zero before claim
	lost  error          // set once and for all when the claim is lost, or the log broken
}

// openJournal reads the end of the model log, from its newest snapshots on: at
// least so many of them, where there are so many.
func openJournal(ctx context.Context, c Config, snapshots int) (*journal, error) {
	j, err := newJournal(ctx, c)
	if err != nil {
		return nil, err
	}
	return j, j.open(ctx, snapshots)
}

// newJournal is a journal that has read nothing yet. Where the log does not keep
// its records it gives both, the journal and ErrLog.
func newJournal(ctx context.Context, c Config) (*journal, error) {
	topic := LogTopic(c.Model)
	log, err := kafkalog.Open(ctx, kafkalog.Config{
		Client: c.Client, Topic: topic, Keep: c.Keep, Key: c.VerifyKey, Tolerant: c.tolerant,
		Retry: func(ctx context.Context, f func() error) error { return retry(ctx, c.Report, f) },
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

// readOn folds what the log has behind the last record read, up to its present
// end, and shows each record to see.
func (j *journal) readOn(ctx context.Context, see kafkalog.See) error {
	return j.reading(func() error { return j.log.ReadOn(ctx, j.see(see)) })
}

// reading calls read, again where the log has been trimmed beyond what was read:
// its owner, not us any more, has deleted old history.
func (j *journal) reading(read func() error) error {
	for {
		err := read()
		var lost *ingest.LostRange
		if !errors.As(err, &lost) || planted("trim") {
			return err
		}
		j.log.Rewind(lost.LogStart)
	}
}

// see reports what cannot be read on the way to see, which may be nil.
func (j *journal) see(see kafkalog.See) kafkalog.See {
	return func(r *ingest.Record, v modellog.Verdict) {
		if v.Record == nil {
			j.report(Unreadable{Offset: v.Offset, Why: v.Void})
		}
		if see != nil {
			see(r, v)
		}
	}
}

// lock waits for the journal to be free, or for ctx to end.
func (j *journal) lock(ctx context.Context) error {
	select {
	case j.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *journal) unlock() { <-j.turn }

// confirm reads the log on to see that the claim is still ours.
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

// checkEvery is how often the log is looked at while nothing is appended.
const checkEvery = time.Second

// watch verifies the log again and again until ctx is done: that it is still
// whole, and the claim still ours.
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

// check is an error where the log is broken, or the claim another's.
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

// knows says whether m is about a BATCH of this history, or one so old that it
// makes no difference.
func (j *journal) knows(m marker) bool {
	j.turn <- struct{}{}
	defer j.unlock()
	if m.Seq <= j.log.Fold.Released() || j.log.Fold.IsAbandoned(m.Seq) {
		return true
	}
	chain, ok := j.log.Fold.ChainAt(m.Seq)
	return ok && chain == m.Chain
}

// fenced is an error if the claim in force is another's.
func (j *journal) fenced() error {
	now := j.log.Fold.Claim()
	if now.Owner == j.owner || planted("owner") && now.Epoch == j.owner.Epoch {
		return nil
	}
	return fmt.Errorf("%w: %s has claimed the model %q (epoch %d) since this learner did (epoch %d)", ErrFenced, or(now.Host, "another learner"), j.topic, now.Epoch, j.owner.Epoch)
}
