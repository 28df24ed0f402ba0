package history

import (
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Rollback is accrete rollback.
type Rollback struct {
	env.ConfigFlags
	env.JSONFlag
	To     *int64 `placeholder:"STEP" xor:"to" help:"Roll back to the newest snapshot at or before this step."`
	ToSeq  *int64 `placeholder:"SEQ" xor:"to" help:"Roll back to the decision with this sequence number (ce_sequence of its predictions)."`
	Before string `placeholder:"TIME" xor:"to" help:"Roll back to the last decision before this time, for example 2026-01-02T15:04:05Z."`
	Reason string `placeholder:"TEXT" help:"Reason, recorded in the model log."`
}

func (Rollback) Help() string {
	return `Rolls a model back to an earlier point of its history: with --to, --to-seq or --before to a snapshot, a decision or a time, otherwise to the end of the records that remain in the model log, if the log has lost its tail, lacks records or does not match what was published. The command ends a running learner (exit code 76) and appends one record to the model log, with the range of sequence numbers that are abandoned; predictions with these numbers (ce_sequence) no longer belong to the history of the model. Then start the learner: it learns the records after that point again, under new sequence numbers.`
}

func (Rollback) Examples() string {
	return `
accrete rollback -c accrete.yaml
accrete rollback -c accrete.yaml --to 120000 --reason mislabeled
accrete rollback -c accrete.yaml --to-seq 26
accrete rollback -c accrete.yaml --before 2026-05-01T00:00:00Z`
}

// RollbackReport describes what was abandoned, if anything.
type RollbackReport struct {
	Model      string               `json:"model"`
	RolledBack bool                 `json:"rolled_back"`
	Seq        int64                `json:"seq,omitempty"`
	ToSeq      int64                `json:"to_seq"`
	Abandoned  []modellog.Abandoned `json:"abandoned,omitempty"`
}

// Validate rejects negative points of the history. Kong calls it.
func (r *Rollback) Validate() error {
	switch {
	case r.To != nil && *r.To < 0:
		return fmt.Errorf("--to is %d: want 0 or more", *r.To)
	case r.ToSeq != nil && *r.ToSeq < 0:
		return fmt.Errorf("--to-seq is %d: want 0 or more", *r.ToSeq)
	}
	return nil
}

func (r *Rollback) Run(ctx context.Context, e *env.Env) error {
	to := admin.RollbackTo{Step: r.To, Seq: r.ToSeq, Reason: r.Reason}
	if r.Before != "" {
		var err error
		if to.Before, err = time.Parse(time.RFC3339, r.Before); err != nil {
			return exit.Usage("--before %s: want a time, for example 2026-01-02T15:04:05Z", r.Before)
		}
	}
	c, p, err := setup.OpenWriter(r.ConfigFlags, e)
	if err != nil {
		return err
	}
	defer p.Client.Close()
	done, err := admin.Rollback(ctx, p, to)
	if err != nil {
		return err
	}
	report := RollbackReport{Model: c.Model, Abandoned: done.Abandoned}
	text := "there is nothing to roll back: the model log of " + c.Model + " is complete, and nothing was published beyond it"
	if b := done.Record; b != nil {
		report.RolledBack, report.Seq, report.ToSeq = true, b.Seq, b.ToSeq
		text = fmt.Sprintf("the history of %s continues from seq %d; %s (%s)", c.Model, b.ToSeq, abandoned(b.ToSeq+1, b.Seq-1), b.Reason)
	}
	return e.Print(r.JSON, text, report)
}

// abandoned describes the sequence numbers from one to another that a rollback abandons. There are
// none if from is greater, as where only the end of the outputs was lost.
func abandoned(from, to int64) string {
	if from > to {
		return "no seq is abandoned"
	}
	return fmt.Sprintf("seqs %d to %d are abandoned", from, to)
}
