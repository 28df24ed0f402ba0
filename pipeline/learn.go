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
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// drainLimit is how long a learner that was told to stop may take for what is
// decided already and for the last snapshot, where Config.Drain does not say.
const drainLimit = 20 * time.Second

// Learner is the writer of one model: it holds the claim on its model log and
// learns until it is told to stop.
type Learner struct {
	config  Config
	inputs  inputs     // replaced, never changed, where partitions are added
	added   sync.Mutex // of inputs from Run on
	reads   *ingest.Budget
	ends    []int64
	journal *journal
	history *history
	decider *decider
	budget  budget
	out     *publisher
	pulse   pulse
	heart   *heart
	memory  memory // of the goroutine that learns

	saving  chan struct{} // holds a token while a snapshot is on its way
	saved   int64         // seq of the newest snapshot begun
	savedAt time.Time
	relearn time.Duration // what learning since then took

	refitting chan struct{} // holds a token while a refit is under way
	refitted  int64         // seq of the newest one begun
	refitAt   time.Time
}

// Open claims the model log, restores the newest snapshot and learns again what
// the log has behind it. From then on every older learner of this model is
// fenced. With Config.Standby it waits until there is none. Run has to follow.
func Open(ctx context.Context, c Config) (_ *Learner, err error) {
	l := &Learner{config: c, saving: make(chan struct{}, 1), savedAt: time.Now(), refitting: make(chan struct{}, 1), refitAt: time.Now()}
	defer func() {
		if err != nil {
			l.heart.end(err)
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
	if l.inputs, err = openInputs(ctx, c.Client, c.Topics); err != nil {
		return nil, err
	}
	if err := create(ctx, c, len(l.inputs)); err != nil {
		return nil, err
	}
	predictions, err := serve.Output(ctx, c.Client, PredictionsTopic(c.Model))
	if err != nil {
		return nil, err
	}
	quarantine, err := serve.Output(ctx, c.Client, QuarantineTopic(c.Model))
	if err != nil {
		return nil, err
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	bounds := limits{predictions.MaxMessageBytes, quarantine.MaxMessageBytes}
	waited, err := l.standBy(ctx, options, bounds)
	if err != nil {
		return nil, err
	}
	if waited != nil { // for as long as it takes
		if l.inputs, err = openInputs(ctx, c.Client, c.Topics); err != nil {
			return nil, err
		}
	}
	if c.ToEnd {
		if l.ends, err = l.inputs.ends(ctx, c.Client); err != nil {
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
	l.history.beat = l.pulse.beat
	l.history.limits = bounds
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
	if err := l.inputs.seek(ctx, c.Client, l.history.reached, c.Report); err != nil {
		return nil, err
	}
	return l, nil
}

// claim makes this process the writer of the log, having seen that it may continue
// the model: before any claim, so that a learner that may not fences nobody.
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
	l.heart.own(j.owner.Epoch, true)
	c.Report(Claimed{Epoch: j.owner.Epoch})
	return j.useOptions(ctx, options)
}

// bound sets what the memory limit is computed from.
func (l *Learner) bound(recovery modellog.Recovery) error {
	features, err := l.config.Learner.Effective()
	if err != nil {
		return err
	}
	l.reads = ingest.NewBudget(memoryRead)
	l.memory = memory{partitions: int64(len(l.inputs)), read: memoryRead, features: int64(features.MaxFeatures), refit: l.config.Refit.bytes(features.MaxFeatures)}
	l.memory.factors = l.memory.features * int64(features.FeatureBytes())
	if recovery.Snapshot != nil {
		l.memory.snapshot = recovery.Snapshot.Manifest.Size
	}
	return nil
}

// Run learns until ctx is done, or to the end if the configuration says so, and
// leaves a snapshot of everything learned behind.
func (l *Learner) Run(ctx context.Context) (err error) {
	defer func() { l.heart.end(err) }()
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

	src := newSource(l.config.Client, l.inputs, l.ends, l.config.OnGap == "record", l.reads, l.config.Report)
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
	case <-l.pulse.stopped(work, l.config.Watchdog): // and so g.Wait might never return
		err := fmt.Errorf("%w: it has come to the end of no mini-batch for %v", ErrHung, l.config.Watchdog)
		cancel(err)
		return err
	}
}

// follow learns one BATCH after the other, and sees that there is a snapshot of
// them in time even if no further one comes.
func (l *Learner) follow(ctx, intake context.Context, g *errgroup.Group, decided <-chan *journaled) error {
	due := time.NewTicker(l.config.SnapshotEvery)
	defer due.Stop()
	intake, stop := context.WithCancel(intake) // a refit does not outlast it
	defer stop()
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
		l.refitIfDue(intake, ctx, g.Go)
	}
}

// journaled is a BATCH or a GAP that the model log has.
type journaled struct {
	gap *modellog.Gap // nil: it is a BATCH

	*decided
	record *modellog.Batch
	took   time.Duration // to append it
}

// decide makes one BATCH after the other of what arrives and appends it to the
// model log. While one is learned the next is decided and appended, and no more.
func (l *Learner) decide(intake, work context.Context, src *source, to chan<- *journaled) error {
	pause := l.journal.log.Fold.Paused() // of the process before
	for {
		if pause != nil {
			if err := l.wait(intake, pause); err != nil {
				return err
			}
			pause = nil
		}
		spans, lost, err := src.take(intake, l.config.BatchSize, l.config.Linger)
		if err != nil {
			return err
		}
		if err := l.grow(work, src); err != nil {
			return err
		}
		var next *journaled
		if lost != nil {
			next, err = l.journalGap(work, lost)
		} else {
			next, pause, err = l.journalBatch(work, src, spans)
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

// grow takes in partitions that were added to the inputs.
func (l *Learner) grow(ctx context.Context, src *source) error {
	grown := src.grew()
	if len(grown) == 0 {
		return nil
	}
	l.added.Lock()
	l.inputs = src.inputs()
	l.added.Unlock()
	for _, g := range grown {
		r := &modellog.Partitions{Owner: l.journal.owner, Topic: g.topic, TopicID: g.id, Count: int32(g.count)}
		if err := l.journal.append(ctx, r); err != nil {
			return err
		}
		l.config.Report(Grown{g.topic, g.count})
	}
	return nil
}

func (l *Learner) journalBatch(ctx context.Context, src *source, spans []span) (*journaled, *modellog.Pause, error) {
	for i := range spans {
		sp := &spans[i]
		sp.from = sp.in.next // what lies between was nothing for a read_committed reader
	}
	d := l.decider.decide(spans)
	if len(d.items) == 0 { // and so is this
		return nil, nil, nil
	}
	if d.batch.Len() > 0 {
		if err := l.config.Learner.Check(d.schema.Columns); err != nil {
			return nil, nil, err
		}
	}
	if d.counts.Quarantined > 0 {
		l.config.Report(Quarantining{d.bad()})
	}
	var spent *budget
	if l.budget.spend(d.items) {
		spent = &l.budget
	}
	start := time.Now()
	b, pause, err := l.journal.appendBatch(ctx, d, l.out.done(), spent)
	if err != nil {
		return nil, nil, err
	}
	for _, sp := range spans {
		sp.in.next = sp.to
	}
	src.lags()
	return &journaled{decided: d, record: b, took: time.Since(start)}, pause, nil
}

func (l *Learner) journalGap(ctx context.Context, lost *gap) (*journaled, error) {
	lost.from = lost.in.next
	g, err := l.journal.appendGap(ctx, lost)
	if err != nil {
		return nil, err
	}
	lost.in.next = lost.to
	l.config.Report(Lost{g.Topic, g.Partition, g.From, g.To})
	return &journaled{gap: g}, nil
}

// wait returns once the model log says that p is over.
func (l *Learner) wait(ctx context.Context, p *modellog.Pause) error {
	if l.config.ToEnd {
		return fmt.Errorf("%w: %v; see what is in %s, then: accrete resume", ErrPoisoned, p, QuarantineTopic(l.config.Model))
	}
	l.config.Report(Paused{p})
	if err := l.journal.waitForResume(ctx); err != nil {
		return err
	}
	l.config.Report(Resumed{})
	return nil
}

func (l *Learner) learn(ctx context.Context, b *journaled) error {
	if b.gap != nil {
		return l.release(ctx, l.history.skip(b.gap))
	}
	start := time.Now()
	l.pulse.beat()
	out := l.history.learn(b.record.Seq, b.record.Chain, b.decided)
	l.pulse.rest()
	took := time.Since(start)
	l.relearn += took
	l.added.Lock()
	partitions := len(l.inputs)
	l.added.Unlock()
	more := l.memory.reads(partitions, l.reads.Most())
	if l.memory.sees(b.decided, out) || more {
		l.config.Report(Memory{l.memory.limit()})
	}
	if err := l.release(ctx, out); err != nil {
		return err
	}
	l.config.Report(Learned{
		Seq: b.record.Seq, Counts: b.counts, Append: b.took, Learn: took,
		Progress: l.history.learner.Progress(),
	})
	return nil
}

func (l *Learner) release(ctx context.Context, out *release) error {
	select {
	case l.out.queue <- out:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// saveIfDue begins a snapshot if there is anything new and it is time.
func (l *Learner) saveIfDue(ctx context.Context, g *errgroup.Group) error {
	first := l.saved == 0 && l.history.learner.Progress().Warmup == 1000 // its last fit: scorers wait for it
	if l.history.seq == l.saved || !first && time.Since(l.savedAt) < l.config.SnapshotEvery && l.relearn < l.config.ReplayLimit {
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
	if size := s.Size(); size > l.memory.snapshot {
		l.memory.snapshot = size
		l.config.Report(Memory{l.memory.limit()})
	}
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
