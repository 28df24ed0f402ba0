package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/priority"
	"github.com/accrete-ml/accrete/refit"
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
// learned up to s. It reads them again from the input topics, by the model log. The
// result is a function of these records, of s and of c only.
func refitTo(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot) (*refitting, error) {
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
	r, err := solve(ctx, refit.Options{Lambda: c.Refit.Lambda, Relative: c.Refit.Tolerance, Prune: c.Refit.Prune}, model, rows)
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
	r, err := refitTo(ctx, c, ins, s)
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
	r, err := refitTo(ctx, c, ins, s)
	if errors.Is(err, errNoRows) || err == nil && r.refit.Rows != m.Refit.Rows {
		return snapshot.Hash{}, false, nil
	}
	if err != nil {
		return snapshot.Hash{}, false, err
	}
	return snapshot.StateHash(r.snapshot.Schema, r.snapshot.State), true, nil
}
