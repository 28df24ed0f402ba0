// Package challenger solves for the coefficients of a model again, on the records that it learned
// last. The result is a challenger of the model.
package challenger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/priority"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Challenger is the result of a refit that is not in the log yet.
type Challenger struct {
	Snapshot *snapshot.Snapshot
	Refit    modellog.Refit
	Read     time.Duration // time to find and decode the records
}

// Solve solves for the coefficients of the serving model of s, on the last records up to s, which
// it reads again from the input topics by the model log. pending is the number of the last of these
// records that the model has not learned yet. The result is a function of these records, of s and
// of c only.
func Solve(ctx context.Context, c model.Config, ins input.Partitions, s *snapshot.Snapshot, pending int) (*Challenger, error) {
	model, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return nil, err
	}
	if err := model.Refittable(); err != nil { // before a window of records is read in vain
		return nil, fmt.Errorf("%w: %w", refit.ErrUnfit, err)
	}
	thinned := c.Learner.Balance != "" && c.Learner.Balance != "none"
	if thinned && model.Moves() {
		return nil, fmt.Errorf("%w: %w", refit.ErrUnfit, learner.ErrThinned)
	}
	start := time.Now()
	rows, from, err := Rows(ctx, c, ins, s, c.Refit.Window, c.Learner.Keyed())
	if err != nil {
		return nil, err
	}
	read := time.Since(start)
	solving := func(score int, at optim.Point) { c.Report(event.Solving{Score: score, At: at}) }
	r, err := solve(ctx, refit.Options{Lambda: c.Refit.Lambda, Relative: c.Refit.Tolerance, Prune: c.Refit.Prune, Pending: min(pending, rows.Len()), Thinned: thinned, Progress: solving}, model, rows)
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
	return &Challenger{&out, record, read}, nil
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

// Again computes the challenger m again from a history that has reached its seq, and returns the
// state hash. It returns false if the input that m was computed from is gone, or if the log no
// longer has the decisions on it.
func Again(ctx context.Context, c model.Config, h *history.History, ins input.Partitions, m *modellog.Challenger) (snapshot.Hash, bool, error) {
	s, err := h.FreezeServing(0)
	if err != nil {
		return snapshot.Hash{}, false, err
	}
	c.Refit = model.RefitConfig{Window: int(min(m.Refit.Rows, math.MaxInt32)), Tolerance: m.Refit.Tolerance, Prune: m.Refit.Prune, Lambda: m.Refit.Lambda}
	r, err := Solve(ctx, c, ins, s, h.Learner.Pending())
	if errors.Is(err, errNoRows) || err == nil && r.Refit.Rows != m.Refit.Rows {
		return snapshot.Hash{}, false, nil
	}
	if err != nil {
		return snapshot.Hash{}, false, err
	}
	return snapshot.StateHash(r.Snapshot.Schema, r.Snapshot.State), true, nil
}
