package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
)

// refitReport is what is certain of a model that was refitted.
type refitReport struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"` // cosines and sines
	Loss     string  `json:"loss"`
	Lambda   float64 `json:"lambda"`

	RelativeGap float64 `json:"relative_gap"` // over the objective of the model 0
	Gap         float64 `json:"gap"`          // that the objective is above the optimum, at most
	Bound       float64 `json:"bound"`        // that an output differs from the optimal model's, at most
	Reached     bool    `json:"reached"`      // the gap that was asked for

	// Suboptimality is what the objective of the model before was above the
	// optimum, at most; null where that model had another loss.
	Suboptimality *float64 `json:"suboptimality"`

	Passes  float64 `json:"passes"`  // 0 with Direct
	Direct  bool    `json:"direct"`  // from the normal equations
	Seconds float64 `json:"seconds"` // with features and, unless it was given, the choice of lambda
	Test    *figure `json:"test"`    // null without a test file
}

func newRefitReport(r *refit.Refitted, seconds float64) *refitReport {
	f := r.Fit
	report := &refitReport{
		Rows: r.Rows, Features: r.Features, Loss: r.Loss.String(), Lambda: r.Lambda,
		RelativeGap: f.Relative, Gap: f.Gap(), Bound: f.Bound, Reached: f.Reached,
		Passes: f.Passes, Direct: f.Direct, Seconds: seconds,
	}
	if r.Comparable {
		report.Suboptimality = &f.Suboptimality
	}
	return report
}

func (r *refitReport) String() string {
	var b strings.Builder
	b.WriteString("refit        ")
	if r.Test != nil {
		fmt.Fprintf(&b, "test %v, ", *r.Test)
	}
	fmt.Fprintf(&b, "within %.2g of the optimum on %s rows (relative gap %.1e, outputs off by at most %.2g)\n", r.Gap, thousands(int64(r.Rows)), r.RelativeGap, r.Bound)
	if r.Suboptimality != nil {
		fmt.Fprintf(&b, "             the one-pass model within %.2g, by the same certificate\n", *r.Suboptimality)
	}
	how := fmt.Sprintf("%.0f passes", r.Passes)
	if r.Direct {
		how = "normal equations"
	}
	fmt.Fprintf(&b, "             %s loss, lambda %.1g, %s, %.2f s\n", r.Loss, r.Lambda, how, r.Seconds)
	return b.String()
}

// window is the last labelled rows.
type window struct{ learner.Batch }

// add appends a row, and forgets all but the last n now and then.
func (w *window) add(row decode.Row, n int) {
	if row.Label.Task == learner.Auto {
		return
	}
	if w.Len() == 0 {
		w.Reset(len(row.X))
	}
	w.Append(row.X, row.Label, row.Weight)
	if w.Len() == 2*n {
		w.Batch = *w.last(n)
	}
}

// last is the last n rows, or all of them.
func (w *window) last(n int) *learner.Batch { return w.Slice(max(0, w.Len()-n), w.Len()) }

// seconds is a clock.
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
	live := refit.Live{Lambda: f.Penalty, Relative: f.Gap, Clock: seconds(), Progress: func(_ int, at refit.Point) {
		if time.Since(last) > time.Second {
			last = time.Now()
			progress.update(fmt.Sprintf("refit: pass %.0f, gap %.2g", at.Passes, at.Gap()), nil)
		}
	}}
	fitted, err := live.Refit(ctx, model, rows.last(f.Window))
	progress.done()
	if err != nil {
		return err
	}
	r.Refit = newRefitReport(fitted, live.Clock())
	if f.Test != "" {
		r.Refit.Test, err = f.test(ctx, e, c, fitted.Model, schema, r)
	}
	return err
}
