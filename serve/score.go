// Package serve is the host of a scorer: it follows the snapshots in a model log, and publishes
// predictions for the records of topics. A Follower and an Archive load models from the log, and a
// Served is such a model, or that of a snapshot file; package inference answers HTTP requests with it.
package serve

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Config configures a Scorer.
type Config struct {
	Model      string
	Client     *ingest.Client
	Log        string        // topic of the model log
	Topics     []string      // input topics
	Output     string        // topic of the scores
	Quarantine string        // topic of invalid records
	Values     record.Values // how much of invalid records it gets
	Group      string        // consumer group that stores positions and shares the partitions between its members

	Passed record.Passed // what predictions take over from their inputs
	Traced bool          // report the traces of records
	Form   record.Form   // encoding of predictions

	Canary Canary // predicts for some keys; none without a name

	Schemas record.Schemas // looks up schemas that records name; nil: only those that the model has seen are known

	VerifyKey ed25519.PublicKey // verifies the signatures of snapshots; nil: signatures are not required

	ToEnd bool // stop at the end offsets seen at the start

	Report func(Event) // is called with what happens, from several goroutines, and must return quickly; nil: nothing is reported
}

// Scorer writes predictions for the records of its topics, made with the snapshot that
// the model log names. Scorers of one group share the partitions. Each score is written
// at least once; duplicates carry the same ce_id and may come from different snapshots.
type Scorer struct {
	config Config
	model  atomic.Pointer[Served]
	log    *Follower
	first  chan struct{} // closed when there is a model
	reads  *ingest.Budget

	canary atomic.Pointer[Served]

	enriching sync.Mutex // guards rows
	rows      []rowsOf
	reading   sync.WaitGroup // goroutines that read the topics of rows
	loading   sync.Map       // options of tables to a *sync.Mutex, held while they are first read

	output, quarantine, shadow ingest.Topic

	answering sync.Mutex // guards answered
	answered  map[place]part
}

// NewScorer prepares a scorer. It does no input or output.
func NewScorer(c Config) *Scorer {
	if c.Report == nil {
		c.Report = func(Event) {}
	}
	s := &Scorer{config: c, first: make(chan struct{}), answered: map[place]part{}, reads: ingest.NewBudget(readBytes)}
	s.log = NewFollower(c.Client, c.Log, c.VerifyKey, func(id string, err error) { c.Report(Damaged{id, err}) })
	if len(c.Topics) == 0 { // no group
		s.log.Polled = func() { c.Report(Heartbeat{}) }
	}
	s.log.Repaired = func() { c.Report(Repaired{}) }
	s.log.Chosen = func(choice modellog.Choice) { c.Report(Chosen{choice}) }
	s.log.Judged = func(step int64, g modellog.Gate) { c.Report(Judged{step, g}) }
	return s
}

// Choice returns how the model to serve is chosen.
func (s *Scorer) Choice() modellog.Choice { return s.log.Choice() }

// Archive returns an Archive of the model log, for past models.
func (s *Scorer) Archive() *Archive {
	a := s.log.Archive()
	a.enrich = s.share
	return a
}

// Model returns the current model; nil while there is none.
func (s *Scorer) Model() *Served { return s.model.Load() }

// Run scores until ctx is done or, with Config.ToEnd, up to the end offsets.
func (s *Scorer) Run(ctx context.Context) error {
	c := s.config
	if c.Client == nil || c.Log == "" {
		return errors.New("serve: a scorer needs Config.Client, one of ingest.New, and Config.Log, the topic of the model log")
	}
	g, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	defer stop()
	var all bounds
	var missing error
	err := s.retry(ctx, func() (err error) {
		all, err = s.bounds(ctx)
		if errors.Is(err, ingest.ErrUnreachable) || errors.Is(err, ingest.ErrUnknownTopic) {
			missing, err = err, nil // these are errors at the start, and are not retried
		}
		return err
	})
	if err = cmp.Or(err, missing); err != nil {
		return err
	}
	if err := record.CreateOutputTopic(ctx, c.Client, c.Output, all.partitions(), c.Topics); err != nil {
		return err
	}
	if err := record.CreateOutputTopic(ctx, c.Client, c.Quarantine, 1, c.Topics); err != nil {
		return err
	}
	output, err := record.OutputTopic(ctx, c.Client, c.Output)
	if err != nil {
		return err
	}
	quarantine, err := record.OutputTopic(ctx, c.Client, c.Quarantine)
	if err != nil {
		return err
	}
	s.output, s.quarantine = output, quarantine
	if topic := c.Canary.Shadow; topic != "" {
		if err := record.CreateOutputTopic(ctx, c.Client, topic, all.partitions(), c.Topics); err != nil {
			return err
		}
		if s.shadow, err = record.OutputTopic(ctx, c.Client, topic); err != nil {
			return err
		}
	}
	g.Go(func() error { return s.Follow(following) })
	g.Go(func() error {
		defer stop()
		return s.take(ctx, all)
	})
	err = g.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// repairCheckInterval is the interval between checks of a broken log.
const repairCheckInterval = 2 * time.Second

// Follow switches to each new snapshot as it appears, until ctx is done. Run calls Follow.
// A process that scores no topics calls Follow instead of Run.
func (s *Scorer) Follow(ctx context.Context) error {
	defer s.reading.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if s.config.Canary.Model != "" {
		beside, stop := context.WithCancel(ctx)
		var ended sync.WaitGroup
		ended.Go(func() { s.followCanary(beside) })
		defer ended.Wait()
		defer stop()
	}
	for {
		var m *Served
		err := s.retry(ctx, func() (err error) {
			m, err = s.log.Next(ctx)
			return err
		})
		if err == nil {
			err = s.retry(ctx, func() error { return s.enrich(ctx, m) })
		}
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, kafkalog.ErrLog) && !s.config.ToEnd {
			s.config.Report(Broken{err})
			select {
			case <-time.After(repairCheckInterval):
				continue
			case <-ctx.Done():
				return nil
			}
		}
		if err != nil {
			return err
		}
		if s.model.Swap(m) == nil {
			close(s.first)
		}
		s.config.Report(Switched{m})
	}
}

// score reads and scores one partition, and commits its position.
func (s *Scorer) score(ctx context.Context, m *ingest.Member, p part) error {
	w := &worker{Scorer: s, part: p, member: m, producer: s.config.Client.Producer()}
	w.producer.Smaller = record.Smaller(s.config.Quarantine)
	w.producer.Retrying = func(err error) { s.config.Report(Unpublished{err}) }
	f := s.reader(&w.part)
	defer f.release()
	defer func() { s.hasAnswered(w.part) }()
	committed, at := p.committed, time.Now()
	for ctx.Err() == nil && (p.end < 0 || w.next < p.end) {
		got, err := f.poll(ctx)
		if ctx.Err() != nil {
			break
		}
		committed = min(committed, w.next) // next goes back if the log was truncated
		if err != nil {
			return err
		}
		if err := w.answer(ctx, got); err != nil {
			if ctx.Err() != nil {
				break
			}
			return err
		}
		if time.Since(at) > time.Second && w.next > committed {
			if at = time.Now(); w.commit(ctx) {
				committed = w.next
			}
		}
	}
	if w.next > committed {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		w.commit(last)
	}
	return nil
}

// retry is ingest.Retry that reports errors as Retrying events.
func (s *Scorer) retry(ctx context.Context, f func() error) error {
	return ingest.Retry(ctx, func(err error) { s.config.Report(Retrying{Err: err}) }, f)
}
