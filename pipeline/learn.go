package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/watchdog"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// drainLimit is the default of Config.Drain: how long a cancelled learner may take to
// publish what is already decided and to write the last snapshot.
const drainLimit = 20 * time.Second

// Learner is the writer of one model: it holds the claim on the model log and learns
// until it is stopped or fenced.
type Learner struct {
	config  Config
	inputs  input.Partitions // replaced, never modified, when partitions are added
	added   sync.Mutex       // guards inputs once Run has started
	reads   *ingest.Budget
	ends    []int64
	journal *journal
	history *history.History
	decider *history.Decider
	budget  budget
	out     *publisher
	pulse   watchdog.Pulse
	heart   *heartbeat.Heart
	memory  memory // owned by the goroutine that learns

	saving  chan struct{} // holds a token while a snapshot is being written
	saved   int64         // seq of the newest snapshot that was begun
	savedAt time.Time
	relearn time.Duration // time spent learning since savedAt

	refitting chan struct{} // holds a token while a refit is running
	refitted  int64         // seq of the newest refit that was begun
	refitAt   time.Time
}

// Open claims the model log, restores the newest snapshot and replays the log after
// it. The claim fences every older learner of this model. With Config.Standby, Open
// waits until no other learner owns the model. The caller must call Run next.
func Open(ctx context.Context, c Config) (_ *Learner, err error) {
	l := &Learner{config: c, reads: ingest.NewBudget(memoryRead), saving: make(chan struct{}, 1), savedAt: time.Now(), refitting: make(chan struct{}, 1), refitAt: time.Now()}
	defer func() {
		if err != nil {
			l.heart.End(errors.Is(err, ErrFenced))
		}
	}()
	if c.Refit.Every > 0 {
		if err := c.Refit.validate(); err != nil {
			return nil, err
		}
		if c.Learner.Lags > 0 {
			return nil, fmt.Errorf("%w: %w", refit.ErrUnfit, learner.ErrLags)
		}
	}
	if l.inputs, err = input.Open(ctx, c.Client, c.Topics); err != nil {
		return nil, err
	}
	if err := create(ctx, c, len(l.inputs)); err != nil {
		return nil, err
	}
	predictions, err := record.OutputTopic(ctx, c.Client, PredictionsTopic(c.Model))
	if err != nil {
		return nil, err
	}
	quarantine, err := record.OutputTopic(ctx, c.Client, QuarantineTopic(c.Model))
	if err != nil {
		return nil, err
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	bounds := history.Limits{Predictions: predictions.MaxMessageBytes, Quarantine: quarantine.MaxMessageBytes}
	if planted.Fault("unbounded") {
		bounds = history.Limits{Predictions: ingest.DefaultMaxMessageBytes, Quarantine: ingest.DefaultMaxMessageBytes}
	}
	waited, err := l.standBy(ctx, options, bounds)
	if err != nil {
		return nil, err
	}
	if options, err = l.config.keepReading(l.journal.log.Fold.Config().Config); err != nil {
		return nil, err
	}
	if waited != nil { // partitions may have been added in the meantime
		if l.inputs, err = input.Open(ctx, c.Client, c.Topics); err != nil {
			return nil, err
		}
	}
	if c.ToEnd {
		if l.ends, err = l.inputs.Ends(ctx, c.Client); err != nil {
			return nil, err
		}
	}
	if err := l.claim(ctx, options); err != nil {
		return nil, err
	}
	recovery, err := l.restore(ctx, options, waited)
	if err != nil {
		return nil, err
	}
	l.history.Beat = l.pulse.Beat
	l.history.Limits = bounds
	if err := l.bound(recovery); err != nil {
		return nil, err
	}
	l.out = newPublisher(c, l.journal, predictions.Partitions, max(recovery.Released, l.saved))
	if err := l.again(ctx, waited, recovery.Released); err != nil {
		return nil, err
	}
	if err := l.replay(ctx, recovery); err != nil {
		return nil, err
	}
	if err := l.inputs.Seek(ctx, c.Client, l.history.Reached, c.Report); err != nil {
		return nil, err
	}
	return l, nil
}

// claim makes this process the writer of the log. It first checks that this process
// may continue the model, so that a learner that may not does not fence the owner.
func (l *Learner) claim(ctx context.Context, options []byte) error {
	j, c := l.journal, l.config
	if have := j.log.Fold.Config().Config; len(have) > 0 {
		if err := sameOptions(have, options); err != nil {
			return err
		}
	}
	if err := j.sameVersions(c); err != nil {
		return err
	}
	seq, err := j.outlived(ctx, c)
	if err != nil {
		return err
	}
	if err := j.begin(ctx, c, options, seq); err != nil {
		return err
	}
	l.heart.Own(j.owner.Epoch, true)
	c.Report(event.Claimed{Epoch: j.owner.Epoch})
	return j.useOptions(ctx, options)
}

// bound initialises what the memory limit is computed from.
func (l *Learner) bound(recovery modellog.Recovery) error {
	features, err := l.config.Learner.Effective()
	if err != nil {
		return err
	}
	l.memory = memory{model: l.config.Learner, read: memoryRead, features: int64(features.MaxFeatures), refit: l.config.Refit.bytes(features.MaxFeatures)}
	l.memory.factors = l.memory.features * int64(features.FeatureBytes())
	if recovery.Snapshot != nil {
		l.memory.snapshot = recovery.Snapshot.Manifest.Size
	}
	return nil
}

// Run learns until ctx is done or, with Config.ToEnd, until the end of the inputs. It
// then writes a snapshot of everything learned.
func (l *Learner) Run(ctx context.Context) (err error) {
	defer func() { l.heart.End(errors.Is(err, ErrFenced)) }()
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	drain := l.config.Drain
	if drain == 0 {
		drain = drainLimit
	}
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(drain, func() { cancel(fmt.Errorf("%w: it had %v", ErrUndrained, drain)) })
	})()

	g, gctx := errgroup.WithContext(work)
	intake, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(gctx, stop)()

	src := input.NewSource(l.config.Client, l.inputs, l.ends, l.config.OnGap == "record", l.reads, l.config.Report)
	g.Go(func() error {
		src.Run(intake)
		return nil
	})
	decided := make(chan *decision)
	g.Go(func() error {
		defer close(decided)
		err := l.decide(intake, gctx, src, decided)
		if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	})
	watched, unwatch := context.WithCancel(gctx)
	defer unwatch()
	g.Go(func() error { return l.journal.watch(watched) })
	g.Go(func() error {
		defer unwatch()
		return l.out.run(gctx)
	})
	g.Go(func() error {
		defer close(l.out.queue)
		return l.follow(gctx, intake, g, decided)
	})
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	select {
	case err := <-done:
		if cause := context.Cause(work); errors.Is(cause, ErrUndrained) {
			return cause
		}
		return err
	case <-l.pulse.Stopped(work, l.config.Watchdog): // in which case g.Wait might never return
		err := fmt.Errorf("%w: no mini-batch completed for %v", ErrHung, l.config.Watchdog)
		cancel(err)
		return err
	}
}

// follow learns one BATCH after the other. It begins snapshots when they are due,
// also while no further BATCH arrives.
func (l *Learner) follow(ctx, intake context.Context, g *errgroup.Group, decided <-chan *decision) error {
	due := time.NewTicker(l.config.SnapshotEvery)
	defer due.Stop()
	intake, stop := context.WithCancel(intake) // ends a running refit
	defer stop()
	for {
		select {
		case b, more := <-decided:
			if !more {
				if ctx.Err() != nil { // after an error, which g.Wait returns
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
		l.refitIfDue(intake, ctx, g.Go)
	}
}

// decision is a BATCH or a GAP that is in the model log.
type decision struct {
	gap *modellog.Gap // nil for a BATCH

	*history.Decided
	record *modellog.Batch
	took   time.Duration // of the append
}

// decide forms BATCHes from the records that arrive and appends them to the model
// log. While one BATCH is learned, the next is decided and appended, but no more.
func (l *Learner) decide(intake, work context.Context, src *input.Source, to chan<- *decision) error {
	pause := l.journal.log.Fold.Paused() // left by the previous process
	for {
		if pause != nil {
			if err := l.wait(intake, pause); err != nil {
				return err
			}
			pause = nil
		}
		spans, lost, err := src.Take(intake, l.config.BatchSize, l.config.Linger)
		if err != nil {
			return err
		}
		if err := l.grow(work, src); err != nil {
			return err
		}
		var next *decision
		if lost != nil {
			next, err = l.appendGap(work, lost)
		} else {
			next, pause, err = l.appendBatch(work, src, spans)
		}
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		select {
		case to <- next:
		case <-work.Done():
			return work.Err()
		}
	}
}

// grow adds partitions that were added to the input topics.
func (l *Learner) grow(ctx context.Context, src *input.Source) error {
	grown := src.Grew()
	if len(grown) == 0 {
		return nil
	}
	l.added.Lock()
	l.inputs = src.Partitions()
	l.added.Unlock()
	for _, g := range grown {
		r := &modellog.Partitions{Owner: l.journal.owner, Topic: g.Topic, TopicID: g.ID, Count: int32(g.Count)}
		if err := l.journal.append(ctx, r); err != nil {
			return err
		}
		l.config.Report(event.PartitionsAdded{Topic: g.Topic, Partitions: g.Count})
	}
	return nil
}

func (l *Learner) appendBatch(ctx context.Context, src *input.Source, spans []input.Span) (*decision, *modellog.Pause, error) {
	for i := range spans {
		sp := &spans[i]
		sp.From = sp.In.Next // a read_committed reader gets no records in between
	}
	d := l.decider.Decide(spans)
	if len(d.Items) == 0 { // nor any in these spans
		return nil, nil, nil
	}
	if d.Batch.Len() > 0 {
		if err := l.config.Learner.Check(d.Schema.Columns); err != nil {
			return nil, nil, err
		}
	}
	if d.Counts.Quarantined > 0 {
		l.config.Report(event.Quarantining{Bad: d.Bad()})
	}
	var spent *budget
	if l.budget.spend(d.Items) {
		spent = &l.budget
	}
	start := time.Now()
	b, pause, err := l.journal.appendBatch(ctx, d, l.out.done(), spent)
	if err != nil {
		return nil, nil, err
	}
	for _, sp := range spans {
		sp.In.Next = sp.To
	}
	src.Lags()
	return &decision{Decided: d, record: b, took: time.Since(start)}, pause, nil
}

func (l *Learner) appendGap(ctx context.Context, lost *input.Gap) (*decision, error) {
	lost.From = lost.In.Next
	g, err := l.journal.appendGap(ctx, lost)
	if err != nil {
		return nil, err
	}
	lost.In.Next = lost.To
	l.config.Report(event.Gap{Topic: g.Topic, Partition: g.Partition, From: g.From, To: g.To})
	return &decision{gap: g}, nil
}

// wait returns after a RESUME of p is in the model log. With Config.ToEnd it returns
// ErrPoisoned at once.
func (l *Learner) wait(ctx context.Context, p *modellog.Pause) error {
	if l.config.ToEnd {
		return fmt.Errorf("%w: %v; inspect %s and fix the cause, then run accrete resume", ErrPoisoned, p, QuarantineTopic(l.config.Model))
	}
	l.config.Report(event.Paused{Why: p})
	if err := l.journal.waitForResume(ctx); err != nil {
		return err
	}
	l.config.Report(event.Resumed{})
	return nil
}

func (l *Learner) learn(ctx context.Context, b *decision) error {
	if b.gap != nil {
		return l.publish(ctx, l.history.Skip(b.gap))
	}
	start := time.Now()
	l.pulse.Beat()
	out := l.history.Learn(b.record.Seq, b.record.Chain, b.Decided)
	l.pulse.Rest()
	took := time.Since(start)
	l.relearn += took
	more := l.memory.reads(l.reads.Most())
	more = l.memory.encodes(l.history.Learner.Encoding()) || more
	if l.memory.observe(b.Decided, out) || more {
		l.config.Report(event.Memory{Limit: l.memory.limit()})
	}
	if err := l.publish(ctx, out); err != nil {
		return err
	}
	l.config.Report(event.Learned{
		Seq: b.record.Seq, Counts: b.Counts, Append: b.took, Learn: took,
		Progress: l.history.Learner.Progress(),
	})
	return nil
}

func (l *Learner) publish(ctx context.Context, out *history.Publication) error {
	select {
	case l.out.queue <- out:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// saveIfDue begins a snapshot if one is due and anything was learned since the last.
func (l *Learner) saveIfDue(ctx context.Context, g *errgroup.Group) error {
	first := l.saved == 0 && l.history.Learner.Progress().Warmup == 1000 // the last fit of the warm-up, which scorers wait for
	if l.history.Seq == l.saved || !first && time.Since(l.savedAt) < l.config.SnapshotEvery && l.relearn < l.config.ReplayLimit {
		return nil
	}
	select {
	case l.saving <- struct{}{}:
		return l.save(ctx, g)
	default: // the previous one is still being written
		return nil
	}
}

// save begins a snapshot of the current history. The caller has put a token into
// l.saving, which save releases when the snapshot is written.
func (l *Learner) save(ctx context.Context, g *errgroup.Group) error {
	start := time.Now()
	s, err := l.history.Freeze(l.journal.owner.Epoch)
	if err != nil {
		return err
	}
	froze := time.Since(start)
	if size := s.Size(); size > l.memory.snapshot {
		l.memory.snapshot = size
		l.config.Report(event.Memory{Limit: l.memory.limit()})
	}
	l.saved, l.savedAt, l.relearn = l.history.Seq, time.Now(), 0
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

// finish waits for the snapshot that is being written and begins a last one if
// anything was learned since.
func (l *Learner) finish(ctx context.Context, g *errgroup.Group) error {
	select {
	case l.saving <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	if l.history.Seq == l.saved {
		return nil
	}
	return l.save(ctx, g)
}
