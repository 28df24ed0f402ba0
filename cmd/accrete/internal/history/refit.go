package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Refit is accrete refit.
type Refit struct {
	env.ConfigFlags
	env.JSONFlag
	Window    *int     `placeholder:"N" help:"Number of the last learned records to solve for (refit.window)."`
	Tolerance *float64 `placeholder:"NUMBER" help:"Duality gap at which to stop, relative to the objective of the zero model (refit.tolerance)."`
	Prune     *float64 `placeholder:"SHARE" help:"Remove random features: penalty of the norm of each one's coefficients, as a share of the least for which none is left (refit.prune)."`
	Penalty   *float64 `placeholder:"LAMBDA" help:"Penalty λ. Chosen by leave-one-out on the last 512 records by default."`
	DryRun    bool     `name:"dry-run" help:"Print the result without writing it to the model log."`
	Save      string   `placeholder:"FILE" help:"Write the challenger as a snapshot, for accrete inspect."`
}

func (Refit) Help() string {
	return `Solves for the coefficients of the newest snapshot on the most recently learned records, which it reads again from the input topics in the order recorded in the model log. The random features stay the same. It prints upper bounds of the distance from the optimum, for the solution and for the model, and appends the solution to the model log as a challenger. This has no influence on learning. With refit.every the learner does the same periodically.`
}

func (Refit) Examples() string {
	return `
accrete refit -c accrete.yaml
accrete refit -c accrete.yaml --window 8000 --dry-run --json`
}

// Validate rejects numbers out of range. Kong calls it.
func (r *Refit) Validate() error {
	switch {
	case r.Window != nil && *r.Window < 2:
		return fmt.Errorf("--window is %d: want 2 or more", *r.Window)
	case r.Tolerance != nil && !(*r.Tolerance > 0):
		return fmt.Errorf("--tolerance is %v: want more than 0", *r.Tolerance)
	case r.Prune != nil && !(*r.Prune >= 0 && *r.Prune < 1):
		return fmt.Errorf("--prune is %v: want 0 to less than 1", *r.Prune)
	case r.Penalty != nil && !(*r.Penalty > 0):
		return fmt.Errorf("--penalty is %v: want more than 0", *r.Penalty)
	}
	return nil
}

// Files returns the files that are read and written.
func (r *Refit) Files() env.Files {
	return env.Files{Inputs: r.ConfigFlags.Inputs(), Outputs: []env.Named{{Name: "--save", Path: r.Save}}}
}

func (r *Refit) Run(ctx context.Context, e *env.Env) error {
	c, err := r.Load(e)
	if err != nil {
		return err
	}
	if err := c.Require("input.topics", "input.label"); err != nil {
		return err
	}
	client, err := env.Connect(c)
	if err != nil {
		return err
	}
	defer client.Close()
	solving, progress, last := display.Solving{Relative: c.Refit.Tolerance}, e.Progress(false), time.Now()
	if r.Tolerance != nil {
		solving.Relative = *r.Tolerance
	}
	p, err := setup.Pipeline(c, client, func(ev event.Event) {
		e.WarnOfRetries(ev)
		if ev, ok := ev.(event.Solving); ok {
			text := solving.Text(ev.Score, ev.At, time.Now())
			if time.Since(last) > time.Second {
				last = time.Now()
				progress.Update(text, nil)
			}
		}
	})
	if err != nil {
		return err
	}
	if r.Window != nil {
		p.Refit.Window = *r.Window
	}
	p.Refit.Tolerance = solving.Relative
	if r.Prune != nil {
		p.Refit.Prune = *r.Prune
	}
	if r.Penalty != nil {
		p.Refit.Lambda = *r.Penalty
	}
	report, s, err := pipeline.Refit(ctx, p, !r.DryRun)
	progress.Done()
	if err != nil {
		return err
	}
	unwritten := files.Save(ctx, r.Save, s) // the report does not depend on it
	text := fmt.Sprintf("%s at step %s: on the last %s records, from seq %d to %d\n", c.Model, display.Thousands(report.Step), display.Thousands(report.Rows), report.FromSeq, report.Seq)
	if report.Suboptimality != nil {
		text += fmt.Sprintf("the model is within %.3g of the optimum\n", *report.Suboptimality)
	}
	text += fmt.Sprintf("the challenger is within %.3g (relative gap %.1e, scores off by at most %.3g; %s loss, lambda %.1g, %.0f passes, %.1f s)", report.Gap, report.Relative, report.Bound, report.Loss, report.Lambda, report.Passes, report.Seconds)
	if report.Prune > 0 {
		text += fmt.Sprintf("\n%s of %s random features left", display.Thousands(int64(report.Kept)), display.Thousands(int64(report.Features)))
	}
	if report.Published {
		text += fmt.Sprintf("\nappended as challenger %s, state %v", report.Snapshot, report.StateHash)
	}
	return errors.Join(e.Print(r.JSON, text, report), unwritten)
}
