package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/pipeline/internal/challenger"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

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
func Refit(ctx context.Context, c model.Config, publish bool) (RefitReport, *snapshot.Snapshot, error) {
	c = c.Quiet()
	start := time.Now()
	report := RefitReport{Model: c.Model}
	if err := c.Refit.Validate(); err != nil {
		return report, nil, err
	}
	if err := c.Refittable(); err != nil {
		return report, nil, err
	}
	j, s, ins, err := newest(ctx, c)
	if err != nil {
		return report, nil, err
	}
	r, err := challenger.Solve(ctx, c, ins, s, s.State.Pending())
	if err != nil {
		return report, nil, err
	}
	report.Seq, report.Step, report.Refit = s.Seq, s.Step, r.Refit
	if publish {
		j.Owner = j.Log.Fold.Claim().Owner
		if _, err := j.Challenge(ctx, r.Snapshot, r.Refit, c); err != nil {
			return report, nil, err
		}
		report.Published, report.Snapshot = true, j.Log.Fold.Challengers()[0].Challenger.Snapshot.String()
	}
	report.StateHash = snapshot.StateHash(r.Snapshot.Schema, r.Snapshot.State)
	report.Seconds = time.Since(start).Seconds()
	return report, r.Snapshot, nil
}

// newest returns the newest snapshot of a model and the inputs of the model. The error is
// refit.ErrUnfit if there is no snapshot yet.
func newest(ctx context.Context, c model.Config) (*journal.Journal, *snapshot.Snapshot, input.Partitions, error) {
	j, err := journal.Open(ctx, c, 1)
	if err != nil {
		return nil, nil, nil, err
	}
	all := j.Log.Fold.Snapshots()
	if len(all) == 0 {
		return nil, nil, nil, fmt.Errorf("%w: the model log %q has no complete snapshot yet", refit.ErrUnfit, j.Topic)
	}
	s, err := j.Load(ctx, all[0])
	if err != nil {
		return nil, nil, nil, err
	}
	ins, err := input.Open(ctx, c.Client, c.Topics)
	return j, s, ins, err
}
