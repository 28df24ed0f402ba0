package serve

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Config configures a Scorer.
type Config struct {
	Model      string
	Client     *ingest.Client
	Log        string   // topic of the model log
	Topics     []string // input topics
	Output     string   // topic of the scores
	Quarantine string   // topic of invalid records
	Group      string   // consumer group that stores positions and shares the partitions between its members

	VerifyKey ed25519.PublicKey // verifies the signatures of snapshots; nil: they need none

	ToEnd  bool // stop at the end offsets seen at the start
	Report func(Event)
}

// Event is one of the events of a Scorer: Retrying, Waiting, Shared, Heard,
// Switched, Damaged, Broken, Repaired, Gap, Truncated or Scored.
type Event any

type (
	// Retrying reports a temporary error. The operation is tried again.
	Retrying struct{ Err error }

	// Waiting reports that there is no model yet, so that nothing is scored.
	Waiting struct{}

	// Shared reports the assignment of partitions: those in Mine are scored here
	// from now on, and the rest by other scorers of the group. Of is the number of
	// all partitions.
	Shared struct {
		Mine ingest.Share
		Of   int
	}

	// Heard reports a successful heartbeat. It is also sent if the share is empty.
	Heard struct{}

	// Switched reports that another model scores from now on.
	Switched struct{ To *Served }

	// Damaged reports a snapshot that cannot be used. The previous model stays in
	// use.
	Damaged struct {
		ID  string
		Err error
	}

	// Broken reports that the model log is no longer the same, whole and monotone.
	// The current model stays in use until it is.
	Broken struct{ Err error }

	// Repaired reports that a broken model log is valid again.
	Repaired struct{}

	// Gap reports that records From to To-1 were deleted before they were scored.
	// Scoring continues at To.
	Gap struct {
		Topic     string
		Partition int
		From, To  int64
	}

	// Truncated reports that the partition has lost the records from End on, which
	// had been read up to Next. Records written in their place are scored.
	Truncated struct {
		Topic     string
		Partition int
		Next, End int64
	}

	// Scored reports that the scores for some records of a partition are written,
	// or that there were none to score.
	Scored struct {
		Topic               string
		Partition           int
		Scored, Quarantined int
		Next, End           int64 // End is the high watermark
		Stable              int64 // last stable offset: less than End while a transaction is open
	}
)

// Scorer writes predictions for the records of its topics, made with the newest
// snapshot of a model. Scorers of one group share the partitions. Each score is
// written at least once; duplicates carry the same ce_id and may name different
// models.
type Scorer struct {
	config Config
	model  atomic.Pointer[Served]
	first  chan struct{} // closed when there is a model
	reads  *ingest.Budget

	output, quarantine ingest.Topic
}

// NewScorer prepares a scorer. It does no input or output.
func NewScorer(c Config) *Scorer {
	return &Scorer{config: c, first: make(chan struct{}), reads: ingest.NewBudget(readBytes)}
}

// Model returns the current model; nil while there is none.
func (s *Scorer) Model() *Served { return s.model.Load() }

// Run scores until ctx is done or, with Config.ToEnd, up to the end offsets.
func (s *Scorer) Run(ctx context.Context) error {
	c := s.config
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
	g.Go(func() error { return s.follow(following) })
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

// mendEvery is the interval between checks of a broken log.
const mendEvery = 2 * time.Second

// follow switches to each new snapshot as it appears.
func (s *Scorer) follow(ctx context.Context) error {
	f := NewFollower(s.config.Client, s.config.Log, s.config.VerifyKey, func(id string, err error) { s.config.Report(Damaged{id, err}) })
	f.Repaired = func() { s.config.Report(Repaired{}) }
	for {
		var m *Served
		err := s.retry(ctx, func() (err error) {
			m, err = f.Next(ctx)
			return err
		})
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, kafkalog.ErrLog) && !s.config.ToEnd {
			s.config.Report(Broken{err})
			select {
			case <-time.After(mendEvery):
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
	f := s.reader(&w.part)
	defer f.release()
	committed, at := p.next, time.Now()
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
	return ingest.Retry(ctx, func(err error) { s.config.Report(Retrying{err}) }, f)
}

// worker scores one partition. It must not be used concurrently.
type worker struct {
	*Scorer
	part
	member   *ingest.Member
	producer *ingest.Producer

	model   *Served // the model of decoder and encoder
	decoder *decode.Decoder
	encoder *record.Encoder
	batch   learner.Batch
}

const scoreAtOnce = 1000 // records

// answer writes the scores for the fetched records.
func (w *worker) answer(ctx context.Context, got ingest.Fetched) error {
	for rs := got.Records; len(rs) > 0; {
		n := min(scoreAtOnce, len(rs))
		scored, bad, err := w.some(ctx, rs[:n])
		if err != nil {
			return err
		}
		w.next = rs[n-1].Offset + 1
		if rs = rs[n:]; len(rs) == 0 {
			w.next = got.Next
		}
		w.config.Report(Scored{w.topic, w.partition, scored, bad, w.next, got.HighWatermark, got.End})
	}
	if w.next < got.Next || len(got.Records) == 0 { // no records for a read_committed consumer
		w.next = got.Next
		w.config.Report(Scored{w.topic, w.partition, 0, 0, w.next, got.HighWatermark, got.End})
	}
	return nil
}

func (w *worker) some(ctx context.Context, rs []ingest.Record) (scored, bad int, err error) {
	if m := w.Model(); m != w.model {
		if err := w.use(m); err != nil {
			return 0, 0, err
		}
	}
	var good []record.Example
	var quarantined []ingest.Record
	w.batch.Reset(len(w.model.Schema.Columns))
	for i := range rs {
		row, err := record.Decode(w.decoder, &rs[i])
		if err != nil {
			quarantined = append(quarantined, record.Quarantined(w.topic, int32(w.partition), &rs[i], err, w.quarantine.MaxMessageBytes))
			continue
		}
		good = append(good, record.Example{Topic: w.topic, Partition: int32(w.partition), Record: &rs[i], Key: row.Key})
		w.batch.Append(row.X, learner.Label{}, row.Weight)
		if w.model.Keyed() {
			w.batch.SetKey(string(row.Key))
		}
	}
	answers := w.model.Predict(&w.batch)
	out := make([]ingest.Record, len(good))
	for i, x := range good {
		x.Decision, x.Intervals = answers.Decision, answers.Intervals
		out[i] = w.encoder.Record(x, answers.Task, answers.Row(i))
	}
	if len(quarantined) > 0 {
		if err := w.producer.Publish(ctx, w.config.Quarantine, 0, quarantined); err != nil {
			return 0, 0, err
		}
	}
	if len(out) > 0 {
		if err := w.producer.Publish(ctx, w.config.Output, w.partition%w.output.Partitions, out); err != nil {
			return 0, 0, err
		}
	}
	return len(good), len(quarantined), nil
}

// use makes m the model of the worker.
func (w *worker) use(m *Served) error {
	d, err := decode.New(m.Decode, m.Schema)
	if err != nil {
		return err
	}
	w.model, w.decoder, w.encoder = m, d, record.NewEncoder(m.ID, m.Schema.Classes, w.output.MaxMessageBytes)
	return nil
}

// commit commits the position for the next scorer of the partition, and reports
// whether it succeeded. If it fails, some records may be scored twice.
func (w *worker) commit(ctx context.Context) bool {
	offsets := make([]int64, w.partition+1)
	for i := range offsets {
		offsets[i] = -1
	}
	offsets[w.partition] = w.next
	err := w.member.Commit(ctx, map[string][]int64{w.topic: offsets})
	if err != nil && ctx.Err() == nil {
		w.config.Report(Retrying{err})
	}
	return err == nil
}
