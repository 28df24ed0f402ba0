package history

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Resume is accrete resume.
type Resume struct {
	env.ConfigFlags
	env.JSONFlag
}

func (Resume) Help() string {
	return `Resumes a paused learner. A learner pauses when more than half of its last 1,000 records are invalid, which protects the model when a producer changes its schema, and with input.on_change: stop when the columns change; /readyz reports it, and the pause survives restarts. No records are lost. Inspect <model>.quarantine, fix the cause, then run this command, which writes one record to the model log. If the topic has more of the invalid records, the learner pauses again after the next 1,000 of them.`
}

func (Resume) Examples() string {
	return `
accrete resume -c accrete.yaml`
}

// resumeReport describes the pause that was ended, if there was one.
type resumeReport struct {
	Model   string `json:"model"`
	Resumed bool   `json:"resumed"`
	Seq     int64  `json:"seq,omitempty"` // after which learning had paused
	Bad     int64  `json:"bad,omitempty"`
	Of      int64  `json:"of,omitempty"`
	Reason  string `json:"reason,omitempty"`

	Columns *modellog.Columns `json:"columns,omitempty"` // those that have changed, if that was why
}

func (r *Resume) Run(ctx context.Context, e *env.Env) error {
	c, w, err := setup.OpenWriter(r.ConfigFlags, e)
	if err != nil {
		return err
	}
	defer w.Client.Close()
	p, err := admin.Resume(ctx, w)
	if err != nil {
		return err
	}
	report := resumeReport{Model: c.Model}
	text := "the learner of " + c.Model + " is not paused"
	if p != nil {
		report = resumeReport{c.Model, true, p.Seq, p.Bad, p.Of, p.Reason, p.Columns}
		text = fmt.Sprintf("learning resumes after seq %d (%s)", p.Seq, p.Why())
	}
	return e.Print(r.JSON, text, report)
}
