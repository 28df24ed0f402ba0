package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/beginning"
	"github.com/accrete-ml/accrete/pipeline/internal/grouplag"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/internal/watchdog"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// drainLimit is the default of Config.Drain: how long a cancelled learner may take to
// publish what is already decided and to write the last snapshot.
const drainLimit = 20 * time.Second

// Learner is the writer of one model: it holds the claim on the model log and learns
// until it is stopped or fenced.
type Learner struct {
	config  model.Config
	inputs  input.Partitions // when partitions are added, it is replaced, never modified
	added   sync.Mutex       // guards inputs once Run has started
	reads   *ingest.Budget
	ends    []int64
	journal *journal.Journal
	history *history.History
	decider *history.Decider
	budget  budget
	out     *publisher
	tables  *enrich.Reader      // nil unless records are enriched
	lag     *grouplag.Committer // nil: positions are not committed
	pulse   watchdog.Pulse
	heart   *heartbeat.Heart
	gate    *gate            // nil: every snapshot passes
	served  *modellog.Choice // last reported; owned by the goroutine that watches the log
	memory  *bound           // owned by the goroutine that learns

	saving   chan struct{} // holds a token while a snapshot is being written
	saved    int64         // seq of the newest snapshot that was begun
	savedAt  time.Time
	measured time.Time     // when the figures of classes were computed last
	measure  time.Duration // how long that took

	relearn time.Duration // time spent learning since savedAt

	refitting chan struct{} // holds a token while a refit is running
	refitted  int64         // seq of the newest refit that was begun
	refitAt   time.Time
}

// Open claims the model log, restores the newest snapshot and replays the log after
// it. The claim fences every older learner of this model. With Config.Standby, Open
// waits until no other learner owns the model. The caller must call Run next.
func Open(ctx context.Context, c model.Config) (_ *Learner, err error) {
	c = c.Quiet()
	c.Start.KeepChoices(&c)
	l := &Learner{config: c, reads: ingest.NewBudget(memory.Read), saving: make(chan struct{}, 1), savedAt: time.Now(), refitting: make(chan struct{}, 1), refitAt: time.Now()}
	defer func() {
		if err != nil {
			l.heart.End(errors.Is(err, journal.ErrFenced))
		}
	}()
	if err := check(c); err != nil {
		return nil, err
	}
	if l.gate, err = newGate(c); err != nil {
		return nil, err
	}
	if l.inputs, err = input.Open(ctx, c.Client, c.Topics); err != nil {
		return nil, err
	}
	if err := journal.Create(ctx, c, len(l.inputs)); err != nil {
		return nil, err
	}
	bounds, partitions, err := outputLimits(ctx, c)
	if err != nil {
		return nil, err
	}
	options, err := c.Options()
	if err != nil {
		return nil, err
	}
	if l.memory, err = newBound(c); err != nil {
		return nil, err
	}
	if c.Start != nil {
		if err := beginning.Write(ctx, c, l.inputs, options); err != nil {
			return nil, err
		}
	}
	waited, err := l.standBy(ctx, options, bounds)
	if err != nil {
		return nil, err
	}
	if options, err = l.config.KeepReading(l.journal.Log.Fold.Config().Config); err != nil {
		return nil, err
	}
	if err := l.config.ValidateRefit(); err != nil {
		return nil, err
	}
	if err := l.memory.of(l.config); err != nil {
		return nil, err
	}
	if err := l.updateInputs(ctx, waited != nil); err != nil {
		return nil, err
	}
	if err := l.claim(ctx, options); err != nil {
		return nil, err
	}
	recovery, err := l.restore(ctx, options, waited)
	if err != nil {
		return nil, err
	}
	if err := l.observe(ctx, c, bounds); err != nil {
		return nil, err
	}
	l.out = newPublisher(c, l.journal, partitions, max(recovery.Released, l.saved))
	if err := l.again(ctx, waited, recovery.Released); err != nil {
		return nil, err
	}
	if err := l.replay(ctx, recovery); err != nil {
		return nil, err
	}
	if err := l.inputs.Seek(ctx, c.Client, l.history.Reached, c.Report); err != nil {
		return nil, err
	}
	if err := l.openTables(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// check returns an error if a learner cannot learn with c.
func check(c model.Config) error {
	switch {
	case c.Client == nil:
		return errors.New("no Client is set: want one of ingest.New")
	case c.Model == "":
		return errors.New("no Model is set: want the name of the model")
	case c.BatchSize < 1:
		return fmt.Errorf("the batch size is %d: want at least 1", c.BatchSize)
	}
	return c.ValidateRefit()
}

// observe connects the history to its observers: the watchdog, the figures of recent predictions,
// the gate, and the consumer group.
func (l *Learner) observe(ctx context.Context, c model.Config, limits history.Limits) error {
	l.history.Beat = l.pulse.Beat
	l.history.Meter, l.history.Numbers = ranking.NewRecent(), deviation.NewRecent(deviation.Of(c.Learner))
	l.history.Limits = limits
	if l.gate != nil {
		l.history.Compare = l.gate.compare
	}
	if err := l.gate.follow(ctx, l.journal); err != nil {
		return err
	}
	if c.Group != "" {
		l.lag = grouplag.New(c.Client, c.Group, func(err error) { c.Report(event.Uncommitted{Err: err}) })
		l.lag.Reached(l.history.Seq, l.history.Reached)
	}
	return nil
}

// updateInputs adds partitions that were added while this learner stood by, and determines
// where to stop.
func (l *Learner) updateInputs(ctx context.Context, stoodBy bool) (err error) {
	c := l.config
	if stoodBy {
		if l.inputs, err = input.Open(ctx, c.Client, c.Topics); err != nil {
			return err
		}
	}
	if c.ToEnd {
		l.ends, err = l.inputs.Ends(ctx, c.Client, c.Report)
	}
	return err
}

// outputLimits returns the limits of the output topics, and the number of partitions of the
// predictions topic.
func outputLimits(ctx context.Context, c model.Config) (history.Limits, int, error) {
	predictions, err := record.OutputTopic(ctx, c.Client, model.PredictionsTopic(c.Model))
	if err != nil {
		return history.Limits{}, 0, err
	}
	quarantine, err := record.OutputTopic(ctx, c.Client, model.QuarantineTopic(c.Model))
	if err != nil {
		return history.Limits{}, 0, err
	}
	bounds := history.Limits{Predictions: predictions.MaxMessageBytes, Quarantine: quarantine.MaxMessageBytes, Passed: c.Passed}
	if planted.Fault("unbounded") {
		bounds = history.Limits{Predictions: ingest.DefaultMaxMessageBytes, Quarantine: ingest.DefaultMaxMessageBytes, Passed: c.Passed}
	}
	bounds.Values = c.Values
	return bounds, predictions.Partitions, nil
}

// Accepts returns an error if the model of c exists and a learner with c would be refused: it has other
// options, another version, or does not read what the model has learned from. It writes nothing.
func Accepts(ctx context.Context, c model.Config) error {
	c = c.Quiet()
	j, err := journal.Open(ctx, c, 1)
	if errors.Is(err, input.ErrTopic) {
		return nil
	}
	if err != nil {
		return err
	}
	have := j.Log.Fold.Config().Config
	if len(have) == 0 {
		return nil
	}
	options, err := c.KeepReading(have)
	if err != nil {
		return err
	}
	if err := model.SameOptions(have, options); err != nil {
		return err
	}
	if err := j.SameVersions(c); err != nil {
		return err
	}
	inputs, err := input.Open(ctx, c.Client, c.Topics)
	if err != nil {
		return err
	}
	return inputs.Include(j.Reached(ctx))
}

// claim makes this process the writer of the log. It first checks that this process may continue
// the model: otherwise the claim would fence the owner for nothing.
func (l *Learner) claim(ctx context.Context, options []byte) error {
	j, c := l.journal, l.config
	if have := j.Log.Fold.Config().Config; len(have) > 0 {
		if err := model.SameOptions(have, options); err != nil {
			return err
		}
	}
	if err := j.SameVersions(c); err != nil {
		return err
	}
	if err := l.inputs.Include(j.Reached(ctx)); err != nil {
		return err
	}
	seq, err := j.Outlived(ctx, c)
	if err != nil {
		return err
	}
	if err := j.Begin(ctx, c, options, seq); err != nil {
		return err
	}
	l.heart.Own(j.Owner.Epoch, true)
	c.Report(event.Claimed{Epoch: j.Owner.Epoch})
	return j.UseOptions(ctx, options)
}
