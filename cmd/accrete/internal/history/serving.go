package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Hold is accrete hold.
type Hold struct {
	env.ConfigFlags
	env.JSONFlag
	Reason string `placeholder:"TEXT" help:"Reason, recorded in the model log."`
}

func (Hold) Help() string {
	return `Makes scorers keep the model that they serve: newer snapshots are not served until accrete promote. The learner continues to learn. The command writes one record to the model log, so that the hold outlives every process, and the log keeps the snapshot. /readyz of the scorers and the answers over HTTP name it.`
}

func (Hold) Examples() string {
	return `
accrete hold -c accrete.yaml
accrete hold -c accrete.yaml --reason 'labels of Friday are late'`
}

func (h *Hold) Run(ctx context.Context, e *env.Env) error {
	return choose(ctx, e, h.ConfigFlags, h.JSON, func(_ model.Config, now modellog.Choice, _ modellog.Ref) (modellog.Choice, error) {
		return modellog.Choice{Mode: modellog.Hold, Snapshot: now.Snapshot, Reason: h.Reason}, nil
	})
}

// Pin is accrete pin.
type Pin struct {
	env.ConfigFlags
	env.JSONFlag
	Version string `arg:"" placeholder:"VERSION" help:"Step of a snapshot, or a time such as 2026-01-02T15:04:05Z: the newest snapshot at that time."`
	Reason  string `placeholder:"TEXT" help:"Reason, recorded in the model log."`
}

func (Pin) Help() string {
	return `Makes scorers serve one snapshot of the model log, whatever is written later, until accrete promote. The learner continues to learn, and the log is kept from that snapshot on, also beyond snapshot.history. To make the learner continue from an earlier point, too, use accrete rollback.`
}

func (Pin) Examples() string {
	return `
accrete pin -c accrete.yaml 48211
accrete pin -c accrete.yaml 2026-05-01T00:00:00Z --reason 'wrong labels since'`
}

func (p *Pin) Run(ctx context.Context, e *env.Env) error {
	return choose(ctx, e, p.ConfigFlags, p.JSON, func(w model.Config, _ modellog.Choice, newest modellog.Ref) (modellog.Choice, error) {
		ref, err := refOf(ctx, w, newest, p.Version)
		return modellog.Choice{Mode: modellog.Pin, Snapshot: ref, Reason: p.Reason}, err
	})
}

// Promote is accrete promote.
type Promote struct {
	env.ConfigFlags
	env.JSONFlag
	Version string `arg:"" optional:"" placeholder:"VERSION" help:"Step of a snapshot, or a time; without it the newest snapshot."`
	Reason  string `placeholder:"TEXT" help:"Reason, recorded in the model log."`
}

func (Promote) Help() string {
	return `Ends a hold or a pin, and makes scorers serve the newest snapshot, or the given one, even if the gate has refused it. Later snapshots are compared with it, and served if they pass.`
}

func (Promote) Examples() string {
	return `
accrete promote -c accrete.yaml
accrete promote -c accrete.yaml 48211 --reason 'the new labels are right'`
}

func (p *Promote) Run(ctx context.Context, e *env.Env) error {
	return choose(ctx, e, p.ConfigFlags, p.JSON, func(w model.Config, _ modellog.Choice, newest modellog.Ref) (modellog.Choice, error) {
		ref, err := newest, error(nil)
		if p.Version != "" {
			ref, err = refOf(ctx, w, newest, p.Version)
		}
		return modellog.Choice{Mode: modellog.Follow, Snapshot: ref, Reason: p.Reason}, err
	})
}

// ServingReport is the result of hold, pin and promote.
type ServingReport struct {
	Model    string          `json:"model"`
	Mode     modellog.Mode   `json:"mode"`
	Step     int64           `json:"step"`
	Seq      int64           `json:"seq"`
	Snapshot string          `json:"snapshot"`
	Reason   string          `json:"reason,omitempty"`
	Before   modellog.Choice `json:"before"`
}

// choose appends a record to the model log that says which snapshot scorers serve from now on. The
// function to returns this choice, given the current choice and the newest snapshot.
func choose(ctx context.Context, e *env.Env, flags env.ConfigFlags, json bool, to func(model.Config, modellog.Choice, modellog.Ref) (modellog.Choice, error)) error {
	c, w, err := setup.OpenWriter(flags, e)
	if err != nil {
		return err
	}
	defer w.Client.Close()
	was, is, err := admin.Serve(ctx, w, func(now modellog.Choice, newest modellog.Ref, ok bool) (modellog.Choice, error) {
		if !ok {
			return now, exit.Refuse(fmt.Errorf("%s has no snapshot yet", model.LogTopic(c.Model)))
		}
		return to(w, now, newest)
	})
	if err != nil {
		return err
	}
	text := map[modellog.Mode]string{
		modellog.Follow: "scorers of %s serve the snapshot of %s, and later ones that pass the gate",
		modellog.Hold:   "scorers of %s keep the snapshot of %s until accrete promote",
		modellog.Pin:    "scorers of %s serve the snapshot of %s until accrete promote",
	}[is.Mode]
	return e.Print(json, fmt.Sprintf(text, c.Model, is.Snapshot), ServingReport{c.Model, is.Mode, is.Snapshot.Step, is.Snapshot.Seq, is.Snapshot.Snapshot.String(), is.Reason, was})
}

// refOf returns the snapshot that a version names.
func refOf(ctx context.Context, w model.Config, newest modellog.Ref, text string) (modellog.Ref, error) {
	ref, err := serve.NewArchive(w.Client, model.LogTopic(w.Model), w.VerifyKey, func() int64 { return newest.Offset }).Ref(ctx, text)
	if errors.Is(err, serve.ErrNoVersion) {
		return ref, exit.Refuse(err)
	}
	return ref, err
}
