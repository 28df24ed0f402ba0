package page

import (
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// choice is the snapshot that the model log tells scorers to serve, and the last verdict of the
// gate.
type choice struct {
	modellog.Choice
	known bool
	since time.Time // zero: from before the start of the process

	step    int64 // step of the snapshot that the gate has judged
	verdict *modellog.Gate
	judged  time.Time // zero if unknown
}

// serves records which snapshot the model log names.
func (b *Board) serves(c modellog.Choice) {
	switch was := b.choice; {
	case !was.known: // chosen before the process started
	case was.Mode != c.Mode || c.Mode != modellog.Follow && was.Snapshot != c.Snapshot, c.Reason != "" && c != was.Choice:
		b.choice.since = b.now()
		b.note("info", fmt.Sprintf("%s: the snapshot of step %s is served%s", c.Mode, count(c.Snapshot.Step), because(c)))
	case was.Snapshot != c.Snapshot:
		b.choice.since = b.now()
	}
	b.choice.Choice, b.choice.known = c, true
}

// judge records the verdict of the gate on the snapshot of a step, and when that was; a zero time
// is unknown. The verdict is nil if the snapshot was not compared.
func (b *Board) judge(step int64, g *modellog.Gate, at time.Time) {
	// a learner and a scorer in one process report the same verdict
	if g == nil || b.choice.verdict != nil && b.choice.step == step {
		return
	}
	was := b.choice.verdict
	b.choice.step, b.choice.verdict, b.choice.judged = step, g, at
	if !g.Passed && !at.IsZero() && (was == nil || was.Passed) {
		b.note("warning", fmt.Sprintf("the snapshot of step %s is %s", count(step), g))
	}
}

func because(c modellog.Choice) string {
	text := ""
	if c.By != "" {
		text = ", chosen by " + c.By
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// servingView is what the page says about the snapshot that is served.
type servingView struct {
	Mode, Text   string
	Step, Newest string
	Since        string
	By, Reason   string
	Held         bool // newer snapshots are not served
	Gate         *gateView
}

// gateView is the last comparison of a challenger, the snapshot of Step, with a champion.
type gateView struct {
	Metric, Rows             string
	Step, Champion           string
	Challenger, ChampionMean string
	Most                     string // largest loss with which a challenger passes
	Passed                   bool
	Age                      string
}

var modes = map[modellog.Mode]string{
	modellog.Follow: "The newest snapshot that passes the gate is served.",
	modellog.Hold:   "Newer snapshots are not served until accrete promote.",
	modellog.Pin:    "A snapshot was chosen; newer ones are not served until accrete promote.",
}

func (b *Board) servingView(now time.Time) *servingView {
	c := b.choice
	if !c.known {
		return nil
	}
	v := &servingView{
		Mode: string(c.Mode), Text: modes[c.Mode], Step: count(c.Snapshot.Step), Held: c.Mode != modellog.Follow,
		By: Printable(c.By, 100), Reason: Printable(c.Reason, 400),
	}
	if !c.since.IsZero() {
		v.Since = Span(now.Sub(c.since))
	}
	if n := len(b.snapshots.values); n > 0 && b.snapshots.values[n-1].step > c.Snapshot.Step {
		v.Newest = count(b.snapshots.values[n-1].step)
	}
	if g := c.verdict; g != nil {
		v.Gate = &gateView{
			Metric: Printable(g.Metric, 64), Rows: count(g.Rows), Step: count(c.step), Champion: count(g.Champion.Step),
			Challenger: figure(g.Loss), ChampionMean: figure(g.Served), Most: figure(g.Served * (1 + g.WorseThan)), Passed: g.Passed,
		}
		if !c.judged.IsZero() {
			v.Gate.Age = Span(now.Sub(c.judged)) + " ago"
		}
	}
	return v
}
