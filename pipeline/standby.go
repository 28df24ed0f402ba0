package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// standby waits for its turn to claim the model. Meanwhile it reads the model log and
// learns what the owner decides, so that only the tail of the log is left to replay
// when it takes over.
type standby struct {
	config  Config
	heart   *heartbeat.Heart
	journal *journal
	roster  heartbeat.Roster
	misses  int

	options []byte
	limits  history.Limits
	warm    *warm     // nil while no history is restored
	retry   time.Time // earliest time to try to restore one
	checked time.Time // when the log was last verified, rather than only read
	owner   string    // host of the last heartbeat of an owner
}

// fencingsAllowed is the number of fencings in a minute from which on a learner that
// starts waits as a standby. That many mean that two supervisors keep restarting
// learners of the same model, which fence each other.
const fencingsAllowed = 2

// waitTurn returns when this process may claim the model, with what it has learned by
// then. It waits only with Config.Standby, or if learners keep fencing each other;
// otherwise it returns nil at once.
func waitTurn(ctx context.Context, c Config, h *heartbeat.Heart, options []byte, bounds history.Limits) (*standby, error) {
	if !c.Standby {
		n, err := h.Fencings(ctx)
		if err != nil || n < fencingsAllowed {
			return nil, err
		}
		c.Report(event.FencingLoop{Fencings: n})
	}
	s := &standby{config: c, heart: h, options: options, limits: bounds}
	s.roster = heartbeat.NewRoster(h.Current())
	var err error
	if s.journal, err = openJournal(ctx, c, 1); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, s.wait(ctx)
}

// standBy starts the heartbeats if they are configured, waits until this process may
// claim the model, and leaves the journal at the end of the log.
func (l *Learner) standBy(ctx context.Context, options []byte, bounds history.Limits) (s *standby, err error) {
	if l.config.Heartbeat > 0 {
		if l.heart, err = heartbeat.Start(ctx, l.config.Client, l.config.Model, host(), l.config.Heartbeat, l.config.Report); err != nil {
			return nil, err
		}
		if s, err = waitTurn(ctx, l.config, l.heart, options, bounds); err != nil {
			return nil, err
		}
	}
	if s != nil {
		l.journal = s.journal
		return s, nil
	}
	if l.journal, err = openJournal(ctx, l.config, 1); err != nil {
		return nil, err
	}
	l.heart.Own(l.journal.log.Fold.Claim().Epoch+1, false)
	return nil, nil
}

// check returns an error if the options of the model differ from those configured.
func (s *standby) check() error {
	have := s.journal.log.Fold.Config().Config
	if len(have) == 0 {
		return nil
	}
	var err error
	if s.options, err = s.config.keepReading(have); err != nil {
		return err
	}
	return sameOptions(have, s.options)
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
			if s.take(b, beats); !s.roster.Due(s.journal.log.Fold.Claim().Epoch) {
				continue
			}
		case <-tick.C:
		}
		grown, err := s.follow(ctx)
		if err != nil {
			return err
		}
		if s.due(grown) {
			epoch := s.journal.log.Fold.Claim().Epoch
			s.config.Report(event.TakingOver{Epoch: epoch, Left: s.roster.Left >= epoch})
			s.heart.Own(epoch+1, false)
			return nil
		}
		s.config.Report(event.StandingBy{Owner: s.owner, Seq: s.journal.log.Fold.Seq()})
	}
}

// take passes b, and all records that have arrived after it, to the roster.
func (s *standby) take(b heartbeat.Seen, beats <-chan heartbeat.Seen) {
	for {
		if b.Beat.Role == heartbeat.Owner {
			s.owner = b.Beat.Host
		}
		s.roster.See(b.Offset, b.Beat, s.journal.log.Fold.Claim().Epoch)
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
	if !s.roster.Due(s.journal.log.Fold.Claim().Epoch) {
		return false
	}
	if grown && s.roster.Left < s.journal.log.Fold.Claim().Epoch {
		s.roster.Heard()
		return false
	}
	return true
}

// follow reads the new records of the model log, learns their decisions, and reports
// whether there were any.
func (s *standby) follow(ctx context.Context) (grown bool, err error) {
	was := s.journal.log.Next()
	read := s.journal.log.ReadOn
	if time.Since(s.checked) > checkEvery {
		read, s.checked = s.journal.log.Check, time.Now()
	}
	if err := s.journal.reading(func() error { return read(ctx, s.journal.see(nil)) }); err != nil {
		return false, err
	}
	if err := s.check(); err != nil {
		return false, err
	}
	if s.warm == nil && len(s.journal.log.Fold.Config().Config) > 0 && time.Now().After(s.retry) {
		const pause = 10 * time.Second // a usable snapshot may have been written by then
		s.retry = time.Now().Add(pause)
		s.warm, err = s.thaw(ctx)
	}
	if s.warm != nil && err == nil {
		err = s.warm.follow(ctx, s.journal.log.Fold)
	}
	if errors.Is(err, errCold) { // it lags behind every snapshot that the log remembers, or the log was rolled back
		if s.warm, err = s.thaw(ctx); err == nil {
			err = s.warm.follow(ctx, s.journal.log.Fold)
		}
	}
	if err != nil { // the takeover takes longer then, and returns the error if it persists
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		s.warm = nil
		s.config.Report(event.StandbyFailed{Err: err})
	}
	return s.journal.log.Next() > was, nil
}

// warm is the model of a standby, which follows the model log without a claim.
type warm struct {
	history *history.History
	decider *history.Decider
	replay  *history.Replayer
	budget  budget
	relearn time.Duration          // time spent learning since the newest snapshot
	waiting []*history.Publication // not known to be published
}

// thaw restores the newest snapshot. It looks up the inputs again, because an ADOPT may
// have replaced them.
func (s *standby) thaw(ctx context.Context) (*warm, error) {
	h, _, err := s.journal.restore(ctx, s.config, s.options)
	if err != nil {
		return nil, err
	}
	ins, err := input.Open(ctx, s.config.Client, s.config.Topics)
	if err != nil {
		return nil, err
	}
	h.Limits = s.limits
	schema := *h.Schema
	d, err := history.NewDecider(s.config.Decode, s.config.Learner.Keyed(), &schema)
	if err != nil {
		return nil, err
	}
	return &warm{history: h, decider: d, replay: history.NewReplayer(s.config.Client, ins, d, ingest.NewBudget(memoryRead), s.config.Report)}, nil
}

// errCold means that a warm history does not match the model log any more, or that the
// log has an UPGRADE that no snapshot covers.
var errCold = errors.New("the history was rolled back or upgraded")

// behind returns the newest snapshot in the log, with the decisions that w has not
// learned yet as its entries.
func (w *warm) behind(f *modellog.Fold) (modellog.Recovery, error) {
	newest, ok := f.Recover(0)
	if !ok {
		return newest, errCold
	}
	r := newest
	for back := 1; r.Snapshot != nil && r.Snapshot.Manifest.Seq > w.history.Seq; back++ {
		if r, ok = f.Recover(back); !ok {
			return r, errCold
		}
	}
	if chain, ok := f.ChainAt(w.history.Seq); w.history.Seq > 0 && (!ok || chain != w.history.Chain) {
		return r, errCold
	}
	newest.Entries = nil
	for _, e := range r.Entries {
		seq, ok := seqOf(e.Record)
		if _, upgrade := e.Record.(*modellog.Upgrade); upgrade {
			return r, errCold
		}
		if ok && seq > w.history.Seq {
			newest.Entries = append(newest.Entries, e)
		}
	}
	return newest, nil
}

// follow learns the decisions in f that are new to w.
func (w *warm) follow(ctx context.Context, f *modellog.Fold) error {
	r, err := w.behind(f)
	if err != nil {
		return err
	}
	if r.Snapshot != nil && r.Snapshot.Manifest.Seq == w.history.Seq {
		w.relearn = 0
	}
	for _, e := range r.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			d, err := w.replay.Decide(ctx, rec)
			if err != nil {
				return err
			}
			begin := time.Now()
			w.waiting = append(w.waiting, w.history.Learn(rec.Seq, rec.Chain, d))
			w.relearn += time.Since(begin)
			w.budget.spend(d.Items)
			if f.Resumed() == rec.Seq {
				w.budget = budget{}
			}
		case *modellog.Gap:
			if err := w.replay.Skip(rec); err != nil {
				return err
			}
			w.waiting = append(w.waiting, w.history.Skip(rec))
		case *modellog.Rollback, *modellog.Adopt:
			w.waiting = append(w.waiting, w.history.Turned(rec))
		}
	}
	for len(w.waiting) > 0 && w.waiting[0].Seq <= r.Released {
		w.waiting = w.waiting[1:]
	}
	return nil
}

// restore sets the history and the decider, from what was learned as a standby or from
// the newest snapshot.
func (l *Learner) restore(ctx context.Context, options []byte, s *standby) (modellog.Recovery, error) {
	if s != nil && s.warm != nil {
		if r, err := s.warm.behind(l.journal.log.Fold); err == nil {
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
	if l.history, r, err = l.journal.restore(ctx, l.config, options); err != nil {
		return r, err
	}
	l.saved = l.history.Seq
	schema := *l.history.Schema
	if planted.Fault("schema") {
		schema.Classes = slices.Sorted(slices.Values(schema.Classes))
	}
	l.decider, err = history.NewDecider(l.config.Decode, l.config.Learner.Keyed(), &schema)
	return r, err
}

// again publishes what was learned as a standby and is not known to be published.
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
