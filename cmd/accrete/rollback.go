package main

import (
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

type rollbackCommand struct {
	configFlags
	jsonFlag
	To     *int64 `placeholder:"STEP" xor:"to" help:"Go back to the newest snapshot at or before this step."`
	Before string `placeholder:"TIME" xor:"to" help:"Go back to the last decision before this time, as 2026-01-02T15:04:05Z."`
	Reason string `help:"Reason, for the model log."`
}

func (rollbackCommand) Help() string {
	return `Makes the history of a model go on from an earlier place. Without --to and --before that is what the model log still holds: the way out where it has lost its tail, has a hole, or does not match what was released. The command ends a learner that runs (exit code 76), and writes one record to the model log, which names the sequence numbers that are abandoned: predictions that carry them (ce_sequence) are of no history any more. Start the learner afterwards: it learns the records behind that place again, under new sequence numbers.`
}

func (rollbackCommand) Examples() string {
	return `
accrete rollback -c accrete.yaml
accrete rollback -c accrete.yaml --to 120000 --reason mislabeled
accrete rollback -c accrete.yaml --before 2026-05-01T00:00:00Z`
}

// rollbackReport describes what was abandoned, if anything.
type rollbackReport struct {
	Model      string               `json:"model"`
	RolledBack bool                 `json:"rolled_back"`
	Seq        int64                `json:"seq,omitempty"`
	ToSeq      int64                `json:"to_seq"`
	Abandoned  []modellog.Abandoned `json:"abandoned,omitempty"`
}

func (r *rollbackCommand) Run(ctx context.Context, e *env) error {
	to := pipeline.RollbackTo{Step: r.To, Reason: r.Reason}
	if r.Before != "" {
		var err error
		if to.Before, err = time.Parse(time.RFC3339, r.Before); err != nil {
			return exit.Usage("--before %s: want a time like 2026-01-02T15:04:05Z", r.Before)
		}
	}
	c, client, err := r.open(e)
	if err != nil {
		return err
	}
	defer client.Close()
	p, err := writerConfig(c, client, e)
	if err != nil {
		return err
	}
	done, err := pipeline.Rollback(ctx, p, to)
	if err != nil {
		return err
	}
	report := rollbackReport{Model: c.Model, Abandoned: done.Abandoned}
	text := "there is nothing to roll back: the model log of " + c.Model + " is whole, and the outputs know of nothing more"
	if b := done.Record; b != nil {
		report.RolledBack, report.Seq, report.ToSeq = true, b.Seq, b.ToSeq
		text = fmt.Sprintf("the history of %s goes on from seq %d; seqs %d to %d are abandoned (%s)", c.Model, b.ToSeq, b.ToSeq+1, b.Seq-1, b.Reason)
	}
	return e.print(r.JSON, text, report)
}
