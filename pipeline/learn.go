package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/snapshot"
)

// drainLimit is how long a learner that was told to stop may take for what is
// decided already and for the last snapshot.
const drainLimit = 20 * time.Second

// Learner is the writer of one model: it holds the claim on its model log and
// learns until it is told to stop.
type Learner struct {
	config  Config
	inputs  inputs
	ends    []int64
	journal *journal
	history *history
	decider *decider
	out     *publisher

	saving  chan struct{} // holds a token while a snapshot is on its way
	saved   int64         // seq of the newest snapshot begun
	savedAt time.Time
	relearn time.Duration // what learning since then took
}

// Open claims the model log, restores the newest snapshot and learns again what
// the log has behind it. From then on every older learner of this model is
// fenced.
func Open(ctx context.Context, c Config) (*Learner, error) {
	l := &Learner{config: c, saving: make(chan struct{}, 1), savedAt: time.Now()}
	var err error
	if l.inputs, err = openInputs(ctx, c.Client, c.Topics); err != nil {
		return nil, err
	}
	if c.ToEnd {
		if l.ends, err = l.inputs.ends(ctx, c.Client); err != nil {
			return nil, err
		}
	}
	if err := create(ctx, c, len(l.inputs)); err != nil {
		return nil, err
	}
	predictions, err := c.Client.Topic(ctx, PredictionsTopic(c.Model))
	if err != nil {
		return nil, err
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	if l.journal, err = openJournal(ctx, c); err != nil {
		return nil, err
	}
	if have := l.journal.fold.Config().Config; len(have) > 0 {
		if err := sameOptions(have, options); err != nil { // before any claim
			return nil, err
		}
	}
	if err := l.journal.claim(ctx); err != nil {
		return nil, err
	}
	c.Report(Claimed{Epoch: l.journal.owner.Epoch})
	if err := l.journal.useOptions(ctx, options); err != nil {
		return nil, err
	}
	var recovery snapshot.Recovery
	if l.history, recovery, err = l.journal.restore(ctx, c, options); err != nil {
		return nil, err
	}
	l.saved = l.history.seq
	if l.decider, err = newDecider(c, l.history.schema); err != nil {
		return nil, err
	}
	l.out = newPublisher(c.Client.Producer(), predictions.Name, predictions.Partitions, QuarantineTopic(c.Model), max(recovery.Released, l.history.seq), c.Report)
	if err := l.replay(ctx, recovery); err != nil {
		return nil, err
	}
	if err := l.inputs.seek(ctx, c.Client, l.history.reached); err != nil {
		return nil, err
	}
	return l, nil
}

// replay learns the BATCHes behind the snapshot again, and publishes again what
// may not have been published.
func (l *Learner) replay(ctx context.Context, from snapshot.Recovery) error {
	start := time.Now()
	ev := Replayed{}
	r := newReplayer(l.config.Client, l.inputs, l.decider, l.config.Report)
	for _, e := range from.Entries {
		b, ok := e.Record.(*snapshot.Batch)
		if !ok {
			continue
		}
		d, err := r.decide(ctx, b)
		if err != nil {
			return err
		}
		begin := time.Now()
		out := l.history.learn(b.Seq, b.Chain, d)
		l.relearn += time.Since(begin)
		if b.Seq > from.Released && !skipRerelease {
			if err := l.out.publish(ctx, out); err != nil {
				return err
			}
			ev.Released++
		}
		ev.Batches++
		ev.Records += len(d.items)
	}
	ev.Took, ev.Progress = time.Since(start), l.history.learner.Progress()
	l.config.Report(ev)
	return nil
}

// Run learns until ctx is done, or to the end if the configuration says so, and
// leaves a snapshot of everything learned behind.
func (l *Learner) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drainLimit, cancel) })()

	g, gctx := errgroup.WithContext(work)
	intake, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(gctx, stop)()

	src := newSource(l.config.Client, l.inputs, l.ends, l.config.Report)
	g.Go(func() error {
		src.run(intake)
		return nil
	})
	decided := make(chan *journaled)
	g.Go(func() error {
		defer close(decided)
		err := l.decide(intake, gctx, src, decided)
		if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	})
	g.Go(func() error { return l.out.run(gctx) })
	g.Go(func() error {
		defer close(l.out.queue)
		return l.follow(gctx, g, decided)
	})
	return g.Wait()
}

// follow learns one BATCH after the other, and sees that there is a snapshot of
// them in time even if no further one comes.
func (l *Learner) follow(ctx context.Context, g *errgroup.Group, decided <-chan *journaled) error {
	due := time.NewTicker(l.config.SnapshotEvery)
	defer due.Stop()
	for {
		select {
		case b, more := <-decided:
			if !more {
				if ctx.Err() != nil { // the end came from a fault, which g.Wait returns
					return nil
				}
				return l.finish(ctx, g)
			}
			if err := l.learn(ctx, b); err != nil {
				return err
			}
		case <-due.C:
		}
		if err := l.saveIfDue(ctx, g); err != nil {
			return err
		}
	}
}

// journaled is a BATCH that the model log has.
type journaled struct {
	*decided
	record *snapshot.Batch
	took   time.Duration // to append it
}

// decide makes one BATCH after the other of what arrives and appends it to the
// model log. While one is learned the next is decided and appended, and no more.
func (l *Learner) decide(intake, work context.Context, src *source, to chan<- *journaled) error {
	for {
		spans, err := src.take(intake, l.config.BatchSize, l.config.Linger)
		if err != nil {
			return err
		}
		d := l.decider.decide(spans)
		if len(d.items) == 0 { // only records that a read_committed reader does not get
			continue
		}
		for _, it := range d.items {
			if it.err != nil {
				l.config.Report(Quarantining{it.in.topic, it.in.partition, it.record.Offset, it.err})
				break
			}
		}
		start := time.Now()
		b, err := l.journal.appendBatch(work, d, l.out.done())
		if err != nil {
			return err
		}
		for _, sp := range spans {
			sp.in.next = sp.to
		}
		src.lags()
		select {
		case to <- &journaled{d, b, time.Since(start)}:
		case <-work.Done():
			return work.Err()
		}
	}
}

func (l *Learner) learn(ctx context.Context, b *journaled) error {
	start := time.Now()
	out := l.history.learn(b.record.Seq, b.record.Chain, b.decided)
	took := time.Since(start)
	l.relearn += took
	select {
	case l.out.queue <- out:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.config.Report(Learned{
		Seq: b.record.Seq, Counts: b.counts, Append: b.took, Learn: took,
		Progress: l.history.learner.Progress(),
	})
	return nil
}

// saveIfDue begins a snapshot if there is anything new and it is time.
func (l *Learner) saveIfDue(ctx context.Context, g *errgroup.Group) error {
	if l.history.seq == l.saved || time.Since(l.savedAt) < l.config.SnapshotEvery && l.relearn < l.config.ReplayLimit {
		return nil
	}
	select {
	case l.saving <- struct{}{}:
		return l.save(ctx, g)
	default: // the one before is still on its way
		return nil
	}
}

// save begins a snapshot of the history as it is. It takes over the token of
// l.saving.
func (l *Learner) save(ctx context.Context, g *errgroup.Group) error {
	start := time.Now()
	s, err := l.history.freeze(l.journal.owner.Epoch)
	if err != nil {
		return err
	}
	froze := time.Since(start)
	l.saved, l.savedAt, l.relearn = l.history.seq, time.Now(), 0
	g.Go(func() error {
		defer func() { <-l.saving }()
		ev, err := l.journal.save(ctx, s, l.out, l.config)
		if err != nil {
			return err
		}
		ev.Froze, ev.Took = froze, time.Since(start)
		l.config.Report(ev)
		return nil
	})
	return nil
}

// finish waits for the snapshot on its way and leaves a last one.
func (l *Learner) finish(ctx context.Context, g *errgroup.Group) error {
	select {
	case l.saving <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	if l.history.seq == l.saved {
		return nil
	}
	return l.save(ctx, g)
}

// replayer decides again what the model log says was decided.
type replayer struct {
	inputs  inputs
	cursors map[*input]*cursor
	decider *decider
	report  func(Event)
	client  *ingest.Client
}

func newReplayer(c *ingest.Client, ins inputs, d *decider, report func(Event)) *replayer {
	return &replayer{inputs: ins, cursors: map[*input]*cursor{}, decider: d, report: report, client: c}
}

// decide reads the records of b and decides them as it was done the first time.
// Its error is ErrHistory if the input topics have other records by now.
func (r *replayer) decide(ctx context.Context, b *snapshot.Batch) (*decided, error) {
	spans := make([]span, 0, len(b.Ranges))
	for _, rg := range b.Ranges {
		in := r.inputs.find(rg.Topic, rg.Partition)
		if in == nil {
			return nil, fmt.Errorf("%w: BATCH %d has records of %s/%d, which is not among the inputs: put the topic back into input.topics", ErrHistory, b.Seq, rg.Topic, rg.Partition)
		}
		if in.id != rg.TopicID {
			return nil, fmt.Errorf("%w: topic %q was deleted and created anew since BATCH %d", ErrHistory, rg.Topic, b.Seq)
		}
		c := r.cursors[in]
		if c == nil {
			c = &cursor{fetcher: r.client.Fetcher(in.topic, int(in.partition)), next: -1}
			r.cursors[in] = c
		}
		records, err := c.take(ctx, rg.From, rg.To, r.report)
		var lost *ingest.LostRange
		var past *ingest.PastEnd
		if errors.As(err, &lost) || errors.As(err, &past) {
			return nil, fmt.Errorf("%w: BATCH %d needs offsets %d to %d of %v: %v", ErrHistory, b.Seq, rg.From, rg.To, in, err)
		}
		if err != nil {
			return nil, err
		}
		spans = append(spans, span{in: in, from: rg.From, to: rg.To, records: records})
	}
	d := r.decider.decide(spans)
	for i, rg := range d.ranges {
		if want := b.Ranges[i]; rg != want {
			return nil, fmt.Errorf("%w: BATCH %d was decided on %d records of %s/%d with digest %016x, and the topic has %d records with digest %016x there now", ErrHistory, b.Seq, want.Records, want.Topic, want.Partition, want.Digest, rg.Records, rg.Digest)
		}
	}
	if d.counts != b.Counts {
		return nil, fmt.Errorf("%w: BATCH %d was decided as %+v, and now as %+v: this version reads the records differently", ErrHistory, b.Seq, b.Counts, d.counts)
	}
	return d, nil
}

func newDecider(c Config, s *decode.Schema) (*decider, error) {
	d, err := decode.New(c.Decode, *s)
	if err != nil {
		return nil, err
	}
	return &decider{decoder: d, keyed: c.Learner.Lags > 0}, nil
}
