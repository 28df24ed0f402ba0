package watch

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Report is the progress of a learner.
type Report struct {
	Model             string         `json:"model"`
	Examples          int64          `json:"examples"` // labelled examples since the model was created
	Records           int64          `json:"records"`  // in this run: learned, predicted only, or quarantined
	Quarantined       int64          `json:"quarantined"`
	ExamplesPerSecond float64        `json:"examples_per_second"`
	Progressive       *float64       `json:"progressive"`                // over the last 10,000 examples; null before the second example
	Each              []float64      `json:"progressive_each,omitempty"` // with several labels
	Baselines         *Baselines     `json:"baselines"`
	Features          int            `json:"features"`
	Step              int64          `json:"step"`
	Snapshots         int            `json:"snapshots"` // in this run
	Predictions       int64          `json:"predictions"`
	Lag               int64          `json:"lag"`
	StateHash         *snapshot.Hash `json:"state_hash"` // of the newest snapshot in this run; null before the first
	Seconds           float64        `json:"seconds"`

	Thinned *learner.Thinned `json:"thinned,omitempty"` // with learner.balance

	Late *join.Status `json:"late,omitempty"` // records and labels that wait to be joined

	*deviation.Figures // of the recent predictions; nil for the square loss and for classes

	task learner.Task
}

// String returns the report as one line. The most important values come first, because a terminal
// may cut the line off.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/s, lag %s", display.Count(r.Examples, "example"), display.Thousands(int64(r.ExamplesPerSecond)), display.Thousands(r.Lag))
	if r.Late != nil {
		b.WriteString(", " + lateText(r.Late))
	}
	if r.Thinned != nil && r.Thinned.Thinned > 0 {
		fmt.Fprintf(&b, ", %s thinned", display.Thousands(r.Thinned.Thinned))
	}
	if r.Quarantined > 0 {
		fmt.Fprintf(&b, ", %s in quarantine", display.Thousands(r.Quarantined))
	}
	switch {
	case r.Progressive != nil && r.task == learner.Novelty:
		fmt.Fprintf(&b, ", flagged %.4f", *r.Progressive)
	case r.Progressive != nil:
		what := "error"
		if r.task == learner.Regression {
			what = "nMSE"
		}
		if r.Figures != nil {
			what = r.Figures.Text() + ", " + what
		}
		fmt.Fprintf(&b, ", %s %.4f (linear %.4f, %s %.4f, no change %.4f)", what, *r.Progressive, r.Baselines.Linear, display.Majority(r.task), r.Baselines.Majority, r.Baselines.NoChange)
	}
	fmt.Fprintf(&b, ", %s, %s", display.Count(int64(r.Features), "feature"), display.Count(int64(r.Snapshots), "snapshot"))
	return b.String()
}

// Baselines are the errors of trivial predictors.
type Baselines struct {
	Majority float64 `json:"majority"` // the most frequent class so far, or the mean so far
	NoChange float64 `json:"no_change"`
	Linear   float64 `json:"linear"`
}
