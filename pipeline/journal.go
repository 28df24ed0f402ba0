package pipeline

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// journal is a learner's hold on the model log. One append is outstanding at a
// time, in one attempt; whatever comes back but an ack at the expected offset,
// the log is read and decides.
type journal struct {
	client   *ingest.Client
	producer *ingest.Producer
	fetcher  *ingest.Fetcher
	topic    string
	keep     int // snapshots
	report   func(Event)

	turn  chan struct{} // holds a token while somebody writes, which may take as long as the broker is away
	fold  *modellog.Fold
	next  int64          // the first offset not read
	owner modellog.Owner // ours; zero before claim
	lost  error          // set once and for all when the claim is lost
	size  sizes
}

// openJournal reads the end of the model log, from its newest snapshots on: at
// least so many of them, where there are so many.
func openJournal(ctx context.Context, c Config, snapshots int) (*journal, error) {
	j := newJournal(c, 0)
	return j, j.open(ctx, snapshots)
}

// newJournal is a journal that has read nothing yet.
func newJournal(c Config, begin int64) *journal {
	topic := LogTopic(c.Model)
	j := &journal{
		client: c.Client, producer: c.Client.Producer(), fetcher: c.Client.Fetcher(topic, 0),
		topic: topic, keep: c.Keep, report: c.Report, turn: make(chan struct{}, 1),
	}
	j.rewind(begin)
	return j
}

// rewind forgets what was read, to read from an offset on.
func (j *journal) rewind(begin int64) {
	j.fold, j.next, j.size = modellog.NewFold(begin, j.keep), begin, sizes{}
}

func (j *journal) open(ctx context.Context, snapshots int) error {
	first, end, err := j.client.Offsets(ctx, j.topic)
	if err != nil {
		return err
	}
	from := int64(0)
	err = modellog.Tail(first[0], end[0], func(begin int64) (*modellog.Fold, error) {
		from = begin
		j.rewind(begin)
		return j.fold, j.readOn(ctx, nil)
	}, func(f *modellog.Fold) bool { return len(f.Snapshots()) >= snapshots })
	if err == nil && from > first[0] { // what lies before is taken for more of the same
		j.size.begin(j.size.total * (from - first[0]) / (j.next - from))
	}
	return err
}

// readOn folds what the log has behind the last record read, up to its present
// end, and shows each record to see.
func (j *journal) readOn(ctx context.Context, see func(*ingest.Record, modellog.Verdict)) error {
	end, err := j.end(ctx)
	if err != nil {
		return err
	}
	for j.next < end {
		got, err := pollRetry(ctx, j.fetcher, j.next, j.report)
		var lost *ingest.LostRange
		if errors.As(err, &lost) && !planted("trim") { // its owner, not us any more, has deleted old history
			j.rewind(lost.LogStart)
			if end, err = j.end(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		for i := range got.Records {
			r := &got.Records[i]
			v, err := j.fold.Add(r.Offset, r.Key, r.Value)
			if err != nil {
				return err
			}
			j.size.add(v)
			if v.Record == nil {
				j.report(Unreadable{Offset: v.Offset, Why: v.Void})
			}
			if see != nil {
				see(r, v)
			}
		}
		j.next = got.Next
	}
	return nil
}

// end of the log. Whatever was acked before the call lies below it.
func (j *journal) end(ctx context.Context) (end int64, err error) {
	err = retry(ctx, j.report, func() error {
		_, ends, err := j.client.Offsets(ctx, j.topic)
		if err == nil {
			end = ends[0]
		}
		return err
	})
	return end, err
}

// claim makes this process the writer of the log. The last start wins: whoever
// wrote before is fenced.
func (j *journal) claim(ctx context.Context) error {
	for {
		if !j.fold.Seeded() && !planted("unseeded") { // so that no claim of ours could count
			return fmt.Errorf("%w: the model log %q has lost its beginning, and no snapshot in it can be used", snapshot.ErrCorrupt, j.topic)
		}
		c := &modellog.Claim{Owner: modellog.Owner{Epoch: j.fold.Claim().Epoch + 1}, Host: host()}
		rand.Read(c.Nonce[:])
		if err := j.write(ctx, c); err != nil {
			return err
		}
		if now := j.fold.Claim(); now.Owner == c.Owner || planted("owner") && now.Epoch == c.Epoch {
			j.owner = c.Owner
			return nil
		}
	}
}

// append writes records that count only under our claim, and returns once the
// log says that they do.
func (j *journal) append(ctx context.Context, rs ...modellog.Record) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	return j.appendLocked(ctx, rs...)
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

func (j *journal) appendLocked(ctx context.Context, rs ...modellog.Record) error {
	if j.lost != nil {
		return j.lost
	}
	err := j.write(ctx, rs...)
	if err == nil {
		err = j.fenced()
	}
	if err != nil {
		j.lost = err
	}
	return err
}

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

// knows says whether m is about a BATCH of this history, or one so old that it
// makes no difference.
func (j *journal) knows(m marker) bool {
	j.turn <- struct{}{}
	defer j.unlock()
	if m.Seq <= j.fold.Released() {
		return true
	}
	chain, ok := j.fold.ChainAt(m.Seq)
	return ok && chain == m.Chain
}

// fenced is an error if the claim in force is another's.
func (j *journal) fenced() error {
	now := j.fold.Claim()
	if now.Owner == j.owner || planted("owner") && now.Epoch == j.owner.Epoch {
		return nil
	}
	return fmt.Errorf("%w: %s has claimed the model %q (epoch %d) since this learner did (epoch %d)", ErrFenced, or(now.Host, "another learner"), j.topic, now.Epoch, j.owner.Epoch)
}

// write appends rs as one batch and folds the log up to and including it. If
// the answer is lost or not what was expected it reads on to see whether the
// batch is there, and writes it again if it is not: a copy that turns up late
// is void, because what it decides is decided already.
func (j *journal) write(ctx context.Context, rs ...modellog.Record) error {
	batch := make([]ingest.Record, len(rs))
	now := time.Now().UnixMilli()
	for i, r := range rs {
		key, value, err := modellog.Encode(r)
		if err != nil {
			return err
		}
		batch[i] = ingest.Record{Time: now, Key: key, Value: value}
	}
	for wait := new(ingest.Backoff); ; {
		base, err := j.producer.Append(ctx, j.topic, 0, batch)
		if planted("ack") && errors.Is(err, ingest.ErrAmbiguous) || planted("offset") && err == nil {
			base, err = j.next, nil
		}
		if err == nil && base == j.next {
			for i, r := range rs {
				v := j.fold.Judge(base+int64(i), r)
				v.Bytes = len(batch[i].Value)
				j.size.add(v)
			}
			j.next += int64(len(rs))
			return nil
		}
		if err != nil {
			if ctx.Err() != nil || !ingest.Temporary(err) && !errors.Is(err, ingest.ErrAmbiguous) {
				return err
			}
			j.report(Retrying{Err: err})
		}
		found := 0
		if err := j.readOn(ctx, func(r *ingest.Record, _ modellog.Verdict) {
			if found < len(batch) && (bytes.Equal(r.Value, batch[found].Value) || planted("found")) {
				found++
			}
		}); err != nil {
			return err
		}
		if found == len(batch) {
			return nil
		}
		if j.owner != (modellog.Owner{}) && j.fold.Claim().Owner != j.owner {
			return nil // appendLocked sees it
		}
		if err := wait.Pause(ctx, err); err != nil {
			return err
		}
	}
}

// appendBatch makes d part of the model's history, and says on the way up to
// where predictions are released, and if the budget is spent, that this is the
// last one for now.
func (j *journal) appendBatch(ctx context.Context, d *decided, released int64, spent *budget) (*modellog.Batch, *modellog.Pause, error) {
	if err := j.lock(ctx); err != nil {
		return nil, nil, err
	}
	defer j.unlock()
	b := &modellog.Batch{Owner: j.owner, Seq: j.fold.Seq() + 1, Ranges: d.ranges, Counts: d.counts}
	b.Chain = modellog.NextChain(j.fold.Chain(), b)
	if planted("released") {
		released = j.fold.Seq()
	}
	rs := append(j.releasedUpTo(released), b)
	var pause *modellog.Pause
	if spent != nil {
		pause = spent.pause(b.Seq, j.owner)
		rs = append(rs, pause)
	}
	return b, pause, j.appendLocked(ctx, rs...)
}

// appendGap makes it part of the model's history that input is lost.
func (j *journal) appendGap(ctx context.Context, lost *gap) (*modellog.Gap, error) {
	if err := j.lock(ctx); err != nil {
		return nil, err
	}
	defer j.unlock()
	g := &modellog.Gap{
		Owner: j.owner, Seq: j.fold.Seq() + 1,
		Topic: lost.in.topic, TopicID: lost.in.id, Partition: lost.in.partition, From: lost.from, To: lost.to,
	}
	g.Chain = modellog.NextChain(j.fold.Chain(), g)
	return g, j.appendLocked(ctx, g)
}

// releasedUpTo is a RELEASED where it is time for one.
func (j *journal) releasedUpTo(seq int64) []modellog.Record {
	const lazily = 8 // BATCHes between two RELEASED
	if seq < j.fold.Released()+lazily {
		return nil
	}
	return []modellog.Record{&modellog.Released{Owner: j.owner, Seq: seq}}
}

// useOptions makes options those of the model: the first time they are written
// down, and from then on they must stay the same.
func (j *journal) useOptions(ctx context.Context, options []byte) error {
	have := j.fold.Config()
	if len(have.Config) == 0 {
		return j.append(ctx, &modellog.Config{Owner: j.owner, Hash: sha256.Sum256(options), Config: options})
	}
	return sameOptions(have.Config, options)
}

// sameOptions is an error that names what differs.
func sameOptions(have, want []byte) error {
	if bytes.Equal(have, want) {
		return nil
	}
	return fmt.Errorf("%w: %s: these shape the model and cannot change while it lives; put them back, or begin a new model under another name", ErrOptions, differences(have, want))
}
