package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/decisions"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/internal/priority"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// RefitConfig configures when and how accurately the coefficients are solved for again.
// It does not affect what is learned.
type RefitConfig struct {
	Every     time.Duration // interval; 0: never
	Window    int           // number of records, the last learned ones, to solve on
	Tolerance float64       // relative duality gap at which to stop
	Prune     float64       // penalty that removes random features, as a share of the least that removes all; 0: none
	Lambda    float64       // weight of ‖f‖²/2 in addition to the mean loss; 0: chosen by leave-one-out
}

func (c RefitConfig) validate() error {
	if c.Window < 2 || !(c.Tolerance > 0) || !(c.Lambda >= 0) || !(c.Prune >= 0 && c.Prune < 1) {
		return fmt.Errorf("%w: invalid refit of %d records with tolerance %v, penalty %v and prune %v", refit.ErrUnfit, c.Window, c.Tolerance, c.Lambda, c.Prune)
	}
	return nil
}

// refitting is the result of a refit: a challenger that is not in the log yet.
type refitting struct {
	snapshot *snapshot.Snapshot
	refit    modellog.Refit
	read     time.Duration // to find and decode the records
}

// refitTo solves for the coefficients of the serving model of s, on the last records
// learned up to s, of which the model has not learned the last pending ones yet. It reads
// them again from the input topics, by the model log. The result is a function of these
// records, of s and of c only.
func refitTo(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, pending int) (*refitting, error) {
	model, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	rows, from, err := learnedBefore(ctx, c, ins, s, c.Refit.Window)
	if err != nil {
		return nil, err
	}
	read := time.Since(start)
	solving := func(score int, at optim.Point) { c.Report(event.Solving{Score: score, At: at}) }
	r, err := solve(ctx, refit.Options{Lambda: c.Refit.Lambda, Relative: c.Refit.Tolerance, Prune: c.Refit.Prune, Pending: pending, Progress: solving}, model, rows)
	if err != nil {
		return nil, err
	}
	out := *s
	out.State = learner.State{Serving: r.Model.Serving()}
	f := r.Fit
	record := modellog.Refit{
		Rows: int64(r.Rows), FromSeq: from, Loss: r.Loss, Lambda: r.Lambda, Tolerance: c.Refit.Tolerance, Prune: c.Refit.Prune,
		Relative: f.Relative, Gap: f.Gap(), Bound: f.Bound, Passes: f.Passes, Suboptimality: &r.Suboptimality,
	}
	if c.Refit.Prune > 0 {
		record.Features, record.Kept = r.Features/2, r.Kept/2
	}
	return &refitting{&out, record, read}, nil
}

// solve returns as soon as ctx is done. On a busy machine refit.Solve may return later;
// its result is then discarded.
func solve(ctx context.Context, o refit.Options, m *learner.Model, rows *learner.Batch) (*refit.Result, error) {
	type result struct {
		r   *refit.Result
		err error
	}
	done := make(chan result, 1)
	go func() {
		priority.Lower()
		r, err := refit.Solve(ctx, m, rows, o)
		done <- result{r, err}
	}()
	select {
	case got := <-done:
		return got.r, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// RefitReport is the result of Refit.
type RefitReport struct {
	Model string `json:"model"`
	Seq   int64  `json:"seq"`
	Step  int64  `json:"step"`
	modellog.Refit
	Published bool          `json:"published"` // as a challenger, in the model log
	Snapshot  string        `json:"snapshot,omitempty"`
	StateHash snapshot.Hash `json:"state_hash"` // of the challenger
	Seconds   float64       `json:"seconds"`
}

// Refit solves for the coefficients of the newest snapshot, on the last records that
// were learned up to it. If publish is true, it writes the result to the model log as a
// challenger, under the current claim. It also returns the challenger.
func Refit(ctx context.Context, c Config, publish bool) (RefitReport, *snapshot.Snapshot, error) {
	start := time.Now()
	report := RefitReport{Model: c.Model}
	if err := c.Refit.validate(); err != nil {
		return report, nil, err
	}
	j, err := openJournal(ctx, c, 1)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return report, nil, noLog(c.Model)
	}
	if err != nil {
		return report, nil, err
	}
	newest := j.log.Fold.Snapshots()
	if len(newest) == 0 {
		return report, nil, fmt.Errorf("%w: the model log %q has no complete snapshot yet", refit.ErrUnfit, j.topic)
	}
	s, err := loadSnapshot(ctx, c, j, newest[0])
	if err != nil {
		return report, nil, err
	}
	ins, err := input.Open(ctx, c.Client, c.Topics)
	if err != nil {
		return report, nil, err
	}
	r, err := refitTo(ctx, c, ins, s, s.State.Pending())
	if err != nil {
		return report, nil, err
	}
	report.Seq, report.Step, report.Refit = s.Seq, s.Step, r.refit
	if publish {
		j.owner = j.log.Fold.Claim().Owner
		if _, err := j.challenge(ctx, r, c); err != nil {
			return report, nil, err
		}
		newest := j.log.Fold.Challengers()[0].Challenger
		report.Published, report.Snapshot = true, newest.Snapshot.String()
	}
	report.StateHash = snapshot.StateHash(r.snapshot.Schema, r.snapshot.State)
	report.Seconds = time.Since(start).Seconds()
	return report, r.snapshot, nil
}

// again computes the challenger m again from a history that has reached its seq, and
// returns its state hash. It returns false if the input that m was computed from, or
// the decisions on it, are gone.
func again(ctx context.Context, c Config, h *history.History, ins input.Partitions, m *modellog.Challenger) (snapshot.Hash, bool, error) {
	s, err := h.FreezeServing(0)
	if err != nil {
		return snapshot.Hash{}, false, err
	}
	c.Refit = RefitConfig{Window: int(min(m.Refit.Rows, math.MaxInt32)), Tolerance: m.Refit.Tolerance, Prune: m.Refit.Prune, Lambda: m.Refit.Lambda}
	r, err := refitTo(ctx, c, ins, s, h.Learner.Pending())
	if errors.Is(err, errNoRows) || err == nil && r.refit.Rows != m.Refit.Rows {
		return snapshot.Hash{}, false, nil
	}
	if err != nil {
		return snapshot.Hash{}, false, err
	}
	return snapshot.StateHash(r.snapshot.Schema, r.snapshot.State), true, nil
}

// decisions is the model log of c.
func (c Config) decisions() *decisions.Log {
	return &decisions.Log{Client: c.Client, Topic: LogTopic(c.Model), Report: c.Report}
}

// learnedBefore returns the last n labelled records up to s, as rows, and the seq of
// the BATCH that has the first of them. It returns fewer if the log or the input has
// no more.
func learnedBefore(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, n int) (*learner.Batch, int64, error) {
	return readLearned(ctx, c, ins, s, n, c.Learner.Keyed())
}

// readLearned is learnedBefore, with the keys of the records if they are wanted.
func readLearned(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, n int, keyed bool) (*learner.Batch, int64, error) {
	batches, err := c.decisions().Before(ctx, s.Seq, s.Chain, n)
	if err != nil {
		return nil, 0, err
	}
	for len(batches) > 0 {
		rows, from, read, err := rowsOf(ctx, c, ins, s, batches, n, keyed)
		var gap *ingest.GapError
		if !errors.As(err, &gap) {
			return rows, from, err
		}
		batches = batches[read+1:] // after what retention has deleted
	}
	return nil, 0, errNoRows
}

// errNoRows means that the rows before a seq cannot be read again: retention has
// deleted the records, or the log was trimmed to just before that seq.
var errNoRows = fmt.Errorf("%w: the input topics have none of the most recently learned records", input.ErrHistory)

// rowsOf returns the last n labelled rows of the batches. With an error, read is the
// number of batches read before it.
func rowsOf(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, batches []*modellog.Batch, n int, keyed bool) (rows *learner.Batch, from int64, read int, err error) {
	var schema decode.Schema
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: schema: %w", snapshot.ErrCorrupt, err)
	}
	if _, err := c.keepReading(s.Config); err != nil {
		return nil, 0, 0, err
	}
	d, err := history.NewDecider(c.Decode, keyed, &schema)
	if err != nil {
		return nil, 0, 0, err
	}
	replay := history.NewReplayer(c.Client, ins, d, ingest.NewBudget(memory.Read), c.Report)
	defer replay.Close()
	skip := -n // labelled rows before the last n
	for _, b := range batches {
		skip += int(b.Counts.Learned)
	}
	rows = new(learner.Batch)
	for i, b := range batches {
		decided, err := replay.Decide(ctx, b)
		if err != nil {
			return nil, 0, i, err
		}
		for k := range decided.Batch.Len() {
			y := decided.Batch.Label(k)
			if y.Task == learner.Auto {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			if rows.Len() == 0 {
				rows.Reset(decided.Batch.Dim())
				from = b.Seq
			}
			rows.Append(decided.Batch.X(k), y, decided.Batch.Weight(k))
			rows.SetKey(decided.Batch.Key(k))
		}
	}
	return rows, from, len(batches), nil
}
