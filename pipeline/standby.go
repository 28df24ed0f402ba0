package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// standby waits for its turn to claim the model. Meanwhile it reads the model log and
// learns what the owner decides, so that only the tail of the log is left to replay
// when it takes over.
type standby struct {
	config  model.Config
	heart   *heartbeat.Heart
	journal *journal.Journal
	roster  heartbeat.Roster
	misses  int

	options []byte
	limits  history.Limits
	memory  *bound
	warm    *warm     // nil while no history is restored
	retry   time.Time // earliest time to try to restore one
	checked time.Time // when the log was last verified, rather than only read
	owner   string    // host of the last heartbeat of an owner
}

// fencingsAllowed is the number of fencings in a minute at which a learner that starts waits as a
// standby. That number of fencings means that two supervisors keep restarting learners of the same
// model, which fence each other.
const fencingsAllowed = 2

// waitTurn returns when this process may claim the model. The standby that it returns has what it
// has learned by then. It waits only with Config.Standby, or if learners keep fencing each other;
// otherwise it returns nil at once.
func waitTurn(ctx context.Context, c model.Config, h *heartbeat.Heart, options []byte, bounds history.Limits, memory *bound) (*standby, error) {
	if !c.Standby {
		n, err := h.Fencings(ctx)
		if err != nil || n < fencingsAllowed {
			return nil, err
		}
		c.Report(event.FencingLoop{Fencings: n})
	}
	s := &standby{config: c, heart: h, options: options, limits: bounds, memory: memory}
	s.roster = heartbeat.NewRoster(h.Current())
	var err error
	if s.journal, err = journal.Open(ctx, c, 1); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	ins, err := input.Open(ctx, c.Client, c.Topics)
	if err != nil {
		return nil, err
	}
	if err := ins.Include(s.journal.Reached(ctx)); err != nil {
		return nil, err
	}
	return s, s.wait(ctx)
}

// standBy starts the heartbeats if they are configured, waits until this process may claim the
// model, and leaves the journal at the end of the log. It returns nil if it did not wait.
func (l *Learner) standBy(ctx context.Context, options []byte, bounds history.Limits) (s *standby, err error) {
	if l.config.Heartbeat > 0 {
		if l.heart, err = heartbeat.Start(ctx, l.config.Client, l.config.Model, journal.Host(), l.config.Heartbeat, l.config.Report); err != nil {
			return nil, err
		}
		if s, err = waitTurn(ctx, l.config, l.heart, options, bounds, l.memory); err != nil {
			return nil, err
		}
	}
	if s != nil {
		l.journal = s.journal
		return s, nil
	}
	if l.journal, err = journal.Open(ctx, l.config, 1); err != nil {
		return nil, err
	}
	l.heart.Own(l.journal.Log.Fold.Claim().Epoch+1, false)
	return nil, nil
}

// check returns an error if the options of the model differ from those configured.
func (s *standby) check() error {
	if err := s.journal.Trusted(s.config); err != nil {
		return err
	}
	have := s.journal.Log.Fold.Config().Config
	if len(have) == 0 {
		return nil
	}
	var err error
	if s.options, err = s.config.KeepReading(have); err != nil {
		return err
	}
	if err := s.memory.of(s.config); err != nil {
		return err
	}
	return model.SameOptions(have, s.options)
}

func (s *standby) wait(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	beats, failed := make(chan heartbeat.Seen, 256), make(chan error, 1)
	go func() {
		failed <- s.heart.Listen(reading, s.roster.Joined, beats)
		close(beats)
	}()
	defer func() {
		stop()
		for range beats {
		}
	}()
	tick := time.NewTicker(s.config.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case b, more := <-beats:
			if !more {
				return <-failed
			}
			if s.take(b, beats); !s.roster.Due(s.journal.Log.Fold.Claim().Epoch) {
				continue
			}
		case <-tick.C:
		}
		grown, err := s.follow(ctx)
		if err != nil {
			return err
		}
		if s.due(grown) {
			epoch := s.journal.Log.Fold.Claim().Epoch
			s.config.Report(event.TakingOver{Epoch: epoch, Left: s.roster.Left >= epoch})
			s.heart.Own(epoch+1, false)
			return nil
		}
		s.config.Report(event.StandingBy{Owner: s.owner, Seq: s.journal.Log.Fold.Seq(), Step: s.step(), Mute: s.heart.Failed()})
	}
}

// step returns the step of the model that s has or, while it has none, of the newest snapshot.
func (s *standby) step() int64 {
	if s.warm != nil {
		return s.warm.history.Step()
	}
	if r, ok := s.journal.Log.Fold.Recover(0); ok && r.Snapshot != nil {
		return r.Snapshot.Manifest.Step
	}
	return 0
}

// take passes b, and all records that have arrived after it, to the roster.
func (s *standby) take(b heartbeat.Seen, beats <-chan heartbeat.Seen) {
	for {
		if b.Beat.Role == heartbeat.Owner {
			s.owner = b.Beat.Host
		}
		s.roster.See(b.Offset, b.Beat, s.journal.Log.Fold.Claim().Epoch)
		select {
		case next, more := <-beats:
			if !more {
				return
			}
			b = next
		default:
			return
		}
	}
}

// due reports whether to claim the model. A log that has grown since it was last read
// counts as a sign of life of the owner, unless the owner has left.
func (s *standby) due(grown bool) bool {
	if n := s.heart.Missed(); n != s.misses {
		s.misses = n
		s.roster.Interrupted()
	}
	if !s.roster.Due(s.journal.Log.Fold.Claim().Epoch) {
		return false
	}
	if grown && s.roster.Left < s.journal.Log.Fold.Claim().Epoch {
		s.roster.OwnerAlive()
		return false
	}
	return true
}

// follow reads the new records of the model log, learns their decisions, and reports
// whether there were any.
func (s *standby) follow(ctx context.Context) (grown bool, err error) {
	was := s.journal.Log.Next()
	read := s.journal.Log.ReadOn
	if time.Since(s.checked) > journal.CheckEvery {
		read, s.checked = s.journal.Log.Check, time.Now()
	}
	if err := s.journal.Reading(func() error { return read(ctx, s.journal.See(nil)) }); err != nil {
		return false, err
	}
	if err := s.check(); err != nil {
		return false, err
	}
	if s.warm == nil && len(s.journal.Log.Fold.Config().Config) > 0 && time.Now().After(s.retry) {
		const pause = 10 * time.Second // a usable snapshot may have been written by then
		s.retry = time.Now().Add(pause)
		s.warm, err = s.thaw(ctx)
	}
	if s.warm != nil && err == nil {
		err = s.warm.follow(ctx, s.journal.Log.Fold)
	}
	if errors.Is(err, errCold) { // the standby lags behind every snapshot that the log remembers, or the log was rolled back or upgraded
		if s.warm, err = s.thaw(ctx); err == nil {
			err = s.warm.follow(ctx, s.journal.Log.Fold)
		}
	}
	if err != nil { // a takeover then takes longer, and returns the error if it persists
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		s.warm = nil
		s.config.Report(event.StandbyFailed{Err: err})
	}
	return s.journal.Log.Next() > was, nil
}

// restore sets the history and the decider. They come from the standby s, if it could follow the
// log, and otherwise from the newest snapshot.
func (l *Learner) restore(ctx context.Context, options []byte, s *standby) (modellog.Recovery, error) {
	if s != nil && s.warm != nil {
		if r, err := s.warm.pending(l.journal.Log.Fold); err == nil {
			w := s.warm
			l.history, l.decider, l.budget, l.relearn = w.history, w.decider, w.budget, w.relearn
			if r.Snapshot != nil {
				l.saved = r.Snapshot.Manifest.Seq
			}
			return r, nil
		}
		s.warm = nil
	}
	var r modellog.Recovery
	var err error
	l.memory.restores(l.journal.Log.Fold)
	if l.history, r, err = l.journal.Restore(ctx, l.config, options); err != nil {
		return r, err
	}
	l.memory.has(l.history)
	l.saved = l.history.Seq
	l.decider, err = newDecider(l.config, l.history)
	return r, err
}

// newDecider returns a Decider that continues from h.
func newDecider(c model.Config, h *history.History) (*history.Decider, error) {
	schema := *h.Schema
	if planted.Fault("schema") {
		schema.Classes = slices.Sorted(slices.Values(schema.Classes))
	}
	d, err := history.NewDecider(c.Decode, c.Learner.Keyed(), &schema)
	if err != nil {
		return nil, err
	}
	d.Values, d.Redact, d.Form = c.Values, c.Passed.Redact, c.Form
	d.Robust = !slices.Contains([]string{"", "auto", loss.Square{}.String()}, c.Learner.Loss)
	d.Enrich(h)
	return d, nil
}

// again publishes the predictions of the standby that are not known to be published.
func (l *Learner) again(ctx context.Context, s *standby, released int64) error {
	if s == nil || s.warm == nil {
		return nil
	}
	for _, out := range s.warm.waiting {
		if out.Seq > released {
			if err := l.out.publish(ctx, out); err != nil {
				return err
			}
		}
	}
	return nil
}
