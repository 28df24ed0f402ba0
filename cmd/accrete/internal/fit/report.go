package fit

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// noveltyClasses are the two classes of rows in task novelty, by which scores are graded.
var noveltyClasses = []string{"normal", "novel"}

// Report is the result of a fit.
type Report struct {
	keyed, weighted bool           // a row has a key, or another weight than 1
	more            bool           // there may be more columns than LeftOut
	tail            hints.LongTail // of the labels

	Task        string           `json:"task"`
	Examples    int64            `json:"examples"`
	Inputs      int              `json:"inputs"`
	LeftOut     int              `json:"left_out,omitempty"` // columns that --columns does not name
	Targets     int              `json:"targets"`
	Algorithm   string           `json:"algorithm"`
	Kernel      string           `json:"kernel"` // with its scale; "" before the first fit of the warm-up
	Progressive display.Figure   `json:"progressive"`
	Baselines   *watch.Baselines `json:"baselines"`           // progressive errors as well
	Test        *display.Figure  `json:"test"`                // null without --test
	Intervals   []intervalReport `json:"intervals,omitempty"` // of each target, with --intervals
	Mixture     *mixtureReport   `json:"mixture,omitempty"`   // with --mixture
	Features    int              `json:"features"`
	learner.Cap
	Thinned   *learner.Thinned `json:"thinned,omitempty"`        // with --balance
	Ages      *ages            `json:"ages,omitempty"`           // with --half-life
	Drifts    drifts           `json:"drifts"`                   // number of alarms of each detector
	Changes   *inputs.Changes  `json:"inputs_changed,omitempty"` // null with --monitor 0
	Seconds   float64          `json:"seconds"`                  // time spent learning
	PerSecond float64          `json:"examples_per_second"`
	Rows      rowCounts        `json:"rows"`
	Skipped   int64            `json:"skipped"` // rows of all files that could not be read
	Reasons   []files.Reason   `json:"skipped_reasons,omitempty"`
	StateHash snapshot.Hash    `json:"state_hash"`
	Refit     *display.Refit   `json:"refit,omitempty"`

	// Columns is empty if all are plain numbers, without missing values and hints, and none looks
	// like an identifier.
	Columns []inputs.Report `json:"columns,omitempty"`
	columns inputs.Tally
	skipped files.Skipped
}

// sorted reports whether the label of the row before is hardly ever wrong, as in rows that are sorted
// by the label, or in a series that moves slowly.
func (r *Report) sorted(p learner.Progress) bool {
	if r.Baselines == nil || p.Examples < 200 {
		return false
	}
	share := 0.02
	if p.Task == learner.Regression {
		share = 1e-3
	}
	return r.Baselines.NoChange < share*r.Baselines.Majority
}

// rowCounts says what became of the rows of the training file.
type rowCounts struct {
	Read       int64 `json:"read"` // all rows: the sum of the other numbers
	Learned    int64 `json:"learned"`
	Thinned    int64 `json:"thinned,omitempty"` // with --balance: predicted and graded, but not learned
	Unlabelled int64 `json:"unlabelled"`        // predicted only
	Skipped    int64 `json:"skipped"`
}

type intervalReport struct {
	Coverage float64 `json:"coverage"` // share of the labels in the interval of their progressive prediction
	Width    float64 `json:"width"`    // mean, in the label's units
}

// ages says how old the rows were when they were learned.
type ages struct {
	Rows    int64   `json:"rows"` // rows with a label and a time
	Untimed int64   `json:"untimed"`
	Weight  float64 `json:"mean_weight"`
	Now     *string `json:"event_time"` // event time that the ages refer to; null before it is known
}

func newAges(a *learner.Ages) *ages {
	if a == nil {
		return nil
	}
	out := &ages{Rows: a.Rows, Untimed: a.Untimed, Weight: a.Mean()}
	if !math.IsNaN(a.Now) {
		text := time.UnixMilli(int64(a.Now * 1000)).UTC().Format(time.RFC3339)
		out.Now = &text
	}
	return out
}

func (a *ages) text() string {
	now := "unknown"
	if a.Now != nil {
		now = *a.Now
	}
	untimed := ""
	if a.Untimed > 0 {
		untimed = fmt.Sprintf("; %s without a time", display.Count(a.Untimed, "row"))
	}
	return fmt.Sprintf("ages         mean weight %.4f, event time %s%s\n", a.Weight, now, untimed)
}

type drifts struct {
	ADWIN       int64 `json:"adwin"`
	PageHinkley int64 `json:"page_hinkley"`
}

// fill sets the fields that are known once all rows are learned.
func (r *Report) fill(p learner.Progress, schema *decode.Schema, labels int, took time.Duration) {
	r.Seconds = took.Seconds()
	r.PerSecond = float64(p.Examples) / max(r.Seconds, 1e-9)
	r.Task, r.Examples, r.Inputs, r.Targets, r.Features, r.Kernel = p.Task.String(), p.Examples, len(schema.Fields()), max(1, len(schema.Classes), labels), p.Features, p.Kernel
	r.Rows.Learned, r.Rows.Unlabelled = p.Examples, r.Rows.Read-p.Examples-r.Rows.Skipped
	r.Cap = p.Cap
	r.Drifts, r.Thinned, r.Ages = drifts(p.Drifts), p.Thinned, newAges(p.Ages)
	if t := p.Thinned; t != nil {
		r.Rows.Learned, r.Rows.Thinned = p.Examples-t.Thinned, t.Thinned
	}
	r.Changes = inputs.NewChanges(p.Inputs, schema.Columns)
	for _, s := range p.Intervals {
		r.Intervals = append(r.Intervals, intervalReport(s))
	}
	r.Mixture = newMixtureReport(p.Mixture, p.Whole.Model.Error)
	r.Progressive = display.Progressive(p.Task, p.Whole)
	r.Baselines = &watch.Baselines{Majority: p.Whole.Majority.Error, NoChange: p.Whole.NoChange.Error, Linear: p.Whole.Linear.Error}
}

func (f *Command) text(r Report, task learner.Task, why string) string {
	var b strings.Builder
	if task == learner.Novelty {
		fmt.Fprintf(&b, "novelty in %s (%s)\n", display.Count(int64(r.Inputs), "input"), why)
	} else {
		fmt.Fprintf(&b, "%v of %s from %s (%s)\n", task, display.Targets(task, r.Targets), display.Count(int64(r.Inputs), "input"), why)
	}
	b.WriteString(f.leftOutText(&r))
	b.WriteString(inputs.Text(r.Columns))
	fmt.Fprintf(&b, "progressive  %v  over %s\n", r.Progressive, display.Count(r.Progressive.Examples, "example"))
	if r.Baselines != nil {
		what := ""
		if r.Progressive.Figures != nil {
			what = "nMSE of "
		}
		fmt.Fprintf(&b, "             %slinear %.4f, %s %.4f, no change %.4f\n", what, r.Baselines.Linear, display.Majority(task), r.Baselines.Majority, r.Baselines.NoChange)
	}
	b.WriteString(r.Mixture.text())
	if r.Test != nil {
		fmt.Fprintf(&b, "test         %v  over %s\n", *r.Test, display.Count(r.Test.Examples, "example"))
	}
	for _, s := range r.Intervals {
		fmt.Fprintf(&b, "intervals    contain %.4f of the labels, mean width %.4g\n", s.Coverage, s.Width)
	}
	b.WriteString(f.classText(r))
	if r.Refit != nil {
		b.WriteString(r.Refit.String())
	}
	if t := r.Thinned; t != nil {
		fmt.Fprintf(&b, "balance      %s of %s thinned, to %.3g of the rows of the class that is thinned most\n", display.Thousands(t.Thinned), display.Count(t.Rows, "row"), t.Least)
	}
	if r.Ages != nil {
		b.WriteString(r.Ages.text())
	}
	if n := r.Drifts.ADWIN + r.Drifts.PageHinkley; n > 0 {
		fmt.Fprintf(&b, "drift        detected %d times by ADWIN, %d times by Page-Hinkley\n", r.Drifts.ADWIN, r.Drifts.PageHinkley)
	}
	if r.Changes != nil && r.Changes.Alarms > 0 {
		b.WriteString(r.Changes.Line())
	}
	if f.Kernel == "auto" && r.Kernel != "" {
		fmt.Fprintf(&b, "kernel       %s, chosen by the warm-up\n", r.Kernel)
	}
	b.WriteString(r.rowsText())
	fmt.Fprintf(&b, "%s, %s features%s, %.2f s, %s examples/s", r.Algorithm, display.Thousands(int64(r.Features)), r.reached(), r.Seconds, display.Thousands(int64(r.PerSecond)))
	return b.String()
}

// leftOutText says how many columns --columns leaves out, and how to keep them.
func (f *Command) leftOutText(r *Report) string {
	if r.LeftOut == 0 {
		return ""
	}
	least, keep := "", ""
	if r.more {
		least = "at least "
	}
	if len(config.ParseColumns(f.Columns).Types()) == len(f.Columns) {
		keep = fmt.Sprintf(": --columns '%s,*' keeps them", strings.Join(f.Columns, ","))
	}
	return fmt.Sprintf("left out     %s%s that --columns does not name%s\n", least, display.Count(int64(r.LeftOut), "column"), keep)
}

// rowsText returns the numbers of rows and the reasons for skipping some, or nothing if all rows
// have a label and could be read. Task novelty needs no labels.
func (r *Report) rowsText() string {
	n := r.Rows
	if r.Skipped == 0 && n.Unlabelled == 0 {
		return ""
	}
	text := fmt.Sprintf("rows         %s read: %s learned, %s without a label, %s skipped\n", display.Thousands(n.Read), display.Thousands(n.Learned), display.Thousands(n.Unlabelled), display.Thousands(n.Skipped))
	for _, reason := range r.Reasons {
		text += fmt.Sprintf("skipped      %v\n", reason)
	}
	return text
}

// reached says what the model does if it has reached its maximum number of features.
func (r *Report) reached() string {
	if r.Features < r.MaxFeatures || r.MaxFeatures == 0 || r.AtCap == "fixed" {
		return ""
	}
	within := ""
	if r.Memory > 0 {
		within = fmt.Sprintf(" in %v of memory", config.Size(r.Memory))
	}
	return " (the maximum" + within + ": " + r.Does() + ")"
}

// classText returns the lines for the figures of classes, empty if they are not shown.
func (c *Command) classText(r Report) string {
	var b strings.Builder
	line := func(name string, f *display.Figure) {
		if f == nil || !c.Shows(*f) {
			return
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "classes      %s\n", f.Classes.Label())
		}
		fmt.Fprintf(&b, "%-12s %v\n", name, f.Classes)
	}
	line("progressive", &r.Progressive)
	line("test", r.Test)
	return b.String()
}
