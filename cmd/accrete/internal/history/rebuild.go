package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Rebuild is accrete rebuild.
type Rebuild struct {
	env.ConfigFlags
	env.JSONFlag
	Without []string `required:"" sep:"none" placeholder:"CONDITIONS" help:"Records to leave out: topic=NAME, partition=NUMBER, key=KEY, before=TIME, from=TIME or header:NAME=VALUE; of several joined by &, all have to hold. Repeatable: a record that any of them describes is left out. Write %26 for & in a value and %25 for %."`
	As      string   `placeholder:"MODEL" help:"Name of a new model to begin with the result (default: only report)."`
}

func (Rebuild) Help() string {
	return `Learns the history of the model again, in the order recorded in the model log, with and without some of its records, and reports how the predictions of all other records would have differed. The state without them is, to the bit, that of a learner that has never seen them. With --as it is the beginning of a new model, which accrete learn continues, with all later records, under that name and otherwise the same configuration. The model itself does not change.`
}

func (Rebuild) Examples() string {
	return `
accrete rebuild -c accrete.yaml --without header:source=partner-7
accrete rebuild -c accrete.yaml --without 'topic=payments&before=2026-03-01T00:00:00Z' --without key=4711 --as fraud-2`
}

// Validate rejects invalid conditions in --without, and names that no model can have. Kong calls it.
func (r *Rebuild) Validate() error {
	if _, err := audit.ParseFilters(r.Without); err != nil {
		return fmt.Errorf("--without %w", err)
	}
	if err := config.CheckModel(r.As); err != nil {
		return fmt.Errorf("--as: %w", err)
	}
	return nil
}

func (r *Rebuild) Run(ctx context.Context, e *env.Env) error {
	c, client, err := r.Open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	progress := e.Progress(false)
	p, err := setup.Pipeline(c, client, func(ev event.Event) {
		switch ev := ev.(type) {
		case event.Learned:
			if e.Terminal {
				progress.Update(fmt.Sprintf("seq %d, %s examples", ev.Seq, display.Thousands(ev.Progress.Examples)), nil)
			}
		case event.Retrying:
			e.WarnOfRetries(ev)
		}
	})
	if err != nil {
		return err
	}
	out, err := audit.Rebuild(ctx, p, r.Without, r.As)
	progress.Done()
	if err != nil {
		return err
	}
	return e.Print(r.JSON, rebuiltText(out), out)
}

func rebuiltText(r audit.Rebuilt) string {
	var b strings.Builder
	d := r.Difference
	fmt.Fprintf(&b, "%s up to seq %d: %s records, %s left out\n", r.Model, r.Seq, display.Thousands(r.Records), display.Thousands(r.Removed))
	if r.Removed == 0 {
		fmt.Fprintf(&b, "without      no record of the history fits %s: check the names and values\n", strings.Join(r.Without, " or "))
	}
	fmt.Fprintf(&b, "predictions  %s compared, %s differ, %s of them in the prediction itself; mean difference %.4g, largest %.4g\n", display.Thousands(d.Compared), display.Thousands(d.Different), display.Thousands(d.Changed), d.Mean, d.Largest)
	fmt.Fprintf(&b, "loss         %.4f with, %.4f without, over %s\n", d.With.Loss, d.Without.Loss, display.Count(d.Graded, "example"))
	fmt.Fprintf(&b, "error        %.4f with, %.4f without\n", d.With.Error, d.Without.Error)
	fmt.Fprintf(&b, "state        %v with, %v without, at step %d", r.Was, r.StateHash, r.Step)
	if r.As != "" {
		fmt.Fprintf(&b, "\nbegan model %s: continue it with accrete learn --set model=%s", r.As, r.As)
	}
	return b.String()
}
