package main

import (
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// chosen reports which snapshot the model log names.
func (t *tally) chosen(c modellog.Choice) {
	t.metrics.Mode(string(c.Mode))
	t.choice = ""
	if c.Mode != modellog.Follow {
		t.choice = fmt.Sprintf("%s: step %d is served until accrete promote, not the newest snapshot", c.Mode, c.Snapshot.Step)
		if c.Reason != "" {
			t.choice += " (" + c.Reason + ")"
		}
	}
	t.note()
	t.e.Log.Info().Str("mode", string(c.Mode)).Int64("step", c.Snapshot.Step).Str("reason", c.Reason).Str("by", c.By).Msg("snapshot to serve")
}

// judged reports the verdict of the gate.
func (t *tally) judged(ev serve.Judged) {
	g := ev.Gate
	t.metrics.Challenge(g.Loss, g.Served)
	t.refused = ""
	if !g.Passed {
		t.metrics.Refused("gate")
		t.refused = fmt.Sprintf("the snapshot of step %d is %s", ev.Step, &g)
		t.e.Log.Warn().Int64("step", ev.Step).Int64("served", g.Champion.Step).Float64(g.Metric, g.Loss).Float64(g.Metric+"_served", g.Served).Int64("rows", g.Rows).Msg("the gate has refused a snapshot")
	}
	t.note()
}

// canaryOf returns the second model that the configuration names.
func canaryOf(c *config.Config) serve.Canary {
	if c.Score.Canary == "" {
		return serve.Canary{}
	}
	return serve.Canary{Model: c.Score.Canary, Log: model.LogTopic(c.Score.Canary), Share: c.Score.CanaryShare, Shadow: c.Score.CanaryOutput}
}

// scoreForm returns the form of scores, whose schema it registers for their topics. Answers
// over HTTP are JSON.
func scoreForm(ctx context.Context, c *config.Config) (form record.Form, err error) {
	if len(c.Score.Topics) == 0 {
		return form, nil
	}
	if topic := c.Score.CanaryOutput; topic != "" {
		if _, err := setup.Form(ctx, c, topic); err != nil {
			return form, err
		}
	}
	return setup.Form(ctx, c, c.Score.Output)
}

// canary reports what the second model does.
func (t *tally) canary(ev serve.Event) {
	switch ev := ev.(type) {
	case serve.CanarySwitched:
		t.metrics.CanaryStep.Set(float64(ev.To.ID.Step))
		t.e.Log.Info().Str("canary", ev.To.ID.Name).Int64("step", ev.To.ID.Step).Stringer("state_hash", ev.To.StateHash).Msg("the canary switched to a snapshot")
	case serve.CanaryFailed:
		t.failing.Log(t.e.Log, fmt.Errorf("canary: %w", ev.Err), time.Now())
	case serve.CanaryScored:
		t.metrics.Canary("predicted", ev.Scored)
		t.metrics.Canary("refused", ev.Refused)
	}
}

// note says in /readyz why the newest snapshot is not served.
func (t *tally) note() {
	switch {
	case t.choice != "" && t.refused != "":
		t.model.Note(t.choice + "; " + t.refused)
	default:
		t.model.Note(t.choice + t.refused)
	}
}
