package main

import (
	"fmt"

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

// note says in /readyz why the newest snapshot is not served.
func (t *tally) note() {
	switch {
	case t.choice != "" && t.refused != "":
		t.model.Note(t.choice + "; " + t.refused)
	default:
		t.model.Note(t.choice + t.refused)
	}
}
