package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/snapshot"
)

type refitCommand struct {
	configFlags
	jsonFlag
	Window    int     `placeholder:"N" help:"Number of the last learned records to solve for (refit.window)."`
	Tolerance float64 `help:"Duality gap at which to stop, relative to the objective of the zero model (refit.tolerance)."`
	Penalty   float64 `placeholder:"LAMBDA" help:"Penalty λ. Chosen by leave-one-out on the last 512 records by default."`
	DryRun    bool    `name:"dry-run" help:"Print the result without writing it to the model log."`
	Save      string  `placeholder:"FILE" help:"Write the challenger as a snapshot, for accrete inspect."`
}

func (refitCommand) Help() string {
	return `Solves for the coefficients of the newest snapshot on the most recently learned records, which it reads again from the input topics in the order recorded in the model log. The random features stay the same. It prints upper bounds of the distance from the optimum, for the solution and for the model, and appends the solution to the model log as a challenger. This has no influence on learning. With refit.every the learner does the same periodically.`
}

func (refitCommand) Examples() string {
	return `
accrete refit -c accrete.yaml
accrete refit -c accrete.yaml --window 8000 --dry-run --json`
}

func (r *refitCommand) Run(ctx context.Context, e *env) error {
	c, err := r.load(e)
	if err != nil {
		return err
	}
	if err := c.Require("input.topics", "input.label"); err != nil {
		return err
	}
	client, err := connect(c)
	if err != nil {
		return err
	}
	defer client.Close()
	p, err := pipelineConfig(c, client, e.warnOfRetries)
	if err != nil {
		return err
	}
	if r.Window != 0 {
		p.Refit.Window = r.Window
	}
	if r.Tolerance != 0 {
		p.Refit.Tolerance = r.Tolerance
	}
	p.Refit.Lambda = r.Penalty
	report, s, err := pipeline.Refit(ctx, p, !r.DryRun)
	if err != nil {
		return err
	}
	if r.Save != "" {
		s.Info = snapshot.Info{Writer: "accrete " + versionString(), Time: time.Now().UnixMilli()}
		file, err := snapshot.Append(nil, s)
		if err != nil {
			return err
		}
		if err := snapshot.WriteFile(r.Save, file); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s at step %s: on the last %s records, from seq %d to %d\n", c.Model, display.Thousands(report.Step), display.Thousands(report.Rows), report.FromSeq, report.Seq)
	if report.Suboptimality != nil {
		text += fmt.Sprintf("the model is within %.3g of the optimum\n", *report.Suboptimality)
	}
	text += fmt.Sprintf("the challenger is within %.3g (relative gap %.1e, scores off by at most %.3g; %s loss, lambda %.1g, %.0f passes, %.1f s)", report.Gap, report.Relative, report.Bound, report.Loss, report.Lambda, report.Passes, report.Seconds)
	if report.Published {
		text += fmt.Sprintf("\nappended as challenger %s, state %v", report.Snapshot, report.StateHash)
	}
	return e.print(r.JSON, text, report)
}

// warnOfRetries logs retries and ignores all other events.
func (e *env) warnOfRetries(ev event.Event) {
	if ev, ok := ev.(event.Retrying); ok {
		e.log.Warn().Err(ev.Err).Msg("temporary failure, retrying")
	}
}

// refitReport is the certificate of a refitted model.
type refitReport struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"` // number of cosines and sines
	Loss     string  `json:"loss"`
	Lambda   float64 `json:"lambda"`

	RelativeGap float64 `json:"relative_gap"` // relative to the objective of the zero model
	Gap         float64 `json:"gap"`          // upper bound of the objective minus the optimum
	Bound       float64 `json:"bound"`        // upper bound of the difference of a score from the optimal model's
	Reached     bool    `json:"reached"`      // whether --tolerance was reached

	// Suboptimality bounds how far the objective of the previous model, with
	// its own loss, was above the optimum. The bound is loose where Loss is
	// another loss.
	Suboptimality float64 `json:"suboptimality"`
	comparable    bool

	Passes  float64         `json:"passes"`  // 0 with Direct
	Direct  bool            `json:"direct"`  // solved by the normal equations
	Seconds float64         `json:"seconds"` // including the random features and the choice of lambda
	Test    *display.Figure `json:"test"`    // null without a test file
}

func newRefitReport(r *refit.Result, seconds float64) *refitReport {
	f := r.Fit
	return &refitReport{
		Rows: r.Rows, Features: r.Features, Loss: r.Loss, Lambda: r.Lambda,
		RelativeGap: f.Relative, Gap: f.Gap(), Bound: f.Bound, Reached: f.Reached,
		Passes: f.Passes, Direct: f.Direct, Seconds: seconds,
		Suboptimality: r.Suboptimality, comparable: r.Comparable,
	}
}

func (r *refitReport) String() string {
	var b strings.Builder
	b.WriteString("refit        ")
	if r.Test != nil {
		fmt.Fprintf(&b, "test %v, ", *r.Test)
	}
	fmt.Fprintf(&b, "within %.2g of the optimum on %s rows (relative gap %.1e, scores off by at most %.2g)\n", r.Gap, display.Thousands(int64(r.Rows)), r.RelativeGap, r.Bound)
	by := "by the same certificate"
	if !r.comparable {
		by = "with its own loss, by its own certificate, which is loose"
	}
	fmt.Fprintf(&b, "             the one-pass model within %.2g, %s\n", r.Suboptimality, by)
	how := fmt.Sprintf("%.0f passes", r.Passes)
	if r.Direct {
		how = "normal equations"
	}
	fmt.Fprintf(&b, "             %s loss, lambda %.1g, %s, %.2f s\n", r.Loss, r.Lambda, how, r.Seconds)
	return b.String()
}

// window keeps the most recent labelled rows.
type window struct{ learner.Batch }

// add appends a row. Every n rows it drops all but the last n.
func (w *window) add(row decode.Row, n int) {
	if row.Label.Task == learner.Auto {
		return
	}
	if w.Len() == 0 {
		w.Reset(len(row.X))
	}
	w.Append(row.X, row.Label, row.Weight)
	w.SetKey(string(row.Key))
	if w.Len() == 2*n {
		w.Batch = *w.last(n)
	}
}

// last returns the last n rows, or all rows if there are fewer.
func (w *window) last(n int) *learner.Batch { return w.Slice(max(0, w.Len()-n), w.Len()) }

// seconds returns a clock that starts at 0, in seconds.
func seconds() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}

// refit refits the model of a snapshot to the last rows.
func (f *fitCommand) refit(ctx context.Context, e *env, c decode.Config, s *snapshot.Snapshot, schema *decode.Schema, rows *window, r *fitReport) error {
	model, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return err
	}
	progress, last := e.progress(false), time.Now()
	o := refit.Options{Lambda: f.Penalty, Relative: f.Tolerance, Clock: seconds(), Progress: func(_ int, at optim.Point) {
		if time.Since(last) > time.Second {
			last = time.Now()
			progress.update(fmt.Sprintf("refit: pass %.0f, duality gap %.2g", at.Passes, at.Gap()), nil)
		}
	}}
	fitted, err := refit.Solve(ctx, model, rows.last(f.Window), o)
	progress.done()
	if err != nil {
		return err
	}
	r.Refit = newRefitReport(fitted, o.Clock())
	if f.Test != "" {
		r.Refit.Test, err = f.test(ctx, e, c, fitted.Model, schema, r)
	}
	return err
}
