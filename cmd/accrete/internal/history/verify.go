// Package history has the commands that read, copy or continue the history of a model: its
// model log and its snapshots.
package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Verify is accrete verify.
type Verify struct {
	env.ConfigFlags
	env.JSONFlag
	From string `placeholder:"FILE" help:"File that the model began with (learn --from), to verify the state that it led to."`
}

func (Verify) Help() string {
	return `Replays the model's history from the input topics in the order recorded in the model log, and compares the state with every snapshot. It starts from the empty state, or from the oldest snapshot that is available. It writes nothing, and fails if anything differs or if there is nothing to compare.`
}

func (Verify) Examples() string {
	return `
accrete verify -c accrete.yaml
accrete verify -c accrete.yaml --from history.csv.gz
accrete verify -c accrete.yaml --json`
}

func (v *Verify) Run(ctx context.Context, e *env.Env) error {
	c, client, err := v.Open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	progress := e.Progress(false)
	var last, began time.Time
	var span event.Verifying
	p, err := setup.Pipeline(c, client, func(ev event.Event) {
		switch ev := ev.(type) {
		case event.Verifying:
			span, began = ev, time.Now()
		case event.Learned:
			if e.Terminal && time.Since(last) > time.Second/4 {
				last = time.Now()
				left := display.Left(last.Sub(began), float64(ev.Seq-span.FromSeq+1)/float64(span.ToSeq-span.FromSeq+1))
				progress.Update(fmt.Sprintf("seq %d of %d, %s examples%s", ev.Seq, span.ToSeq, display.Thousands(ev.Progress.Examples), left), nil)
			}
		case audit.Divergence:
			e.Log.Error().Int64("seq", ev.Seq).Int64("step", ev.Step).Stringer("want", ev.Want).Stringer("got", ev.Got).Bool("lineage_differs", ev.Lineage).Msg("divergence")
		case event.Retrying:
			e.Log.Warn().Err(ev.Err).Msg("temporary failure, retrying")
		}
	})
	if err != nil {
		return err
	}
	if p.Start, err = setup.Start(ctx, e, c, v.From, ""); err != nil {
		return err
	}
	r, err := audit.Verify(ctx, p)
	progress.Done()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("compared %d, divergent %d, from_seq %d, to_seq %d (%s records in %.1f s)", r.Compared, r.Divergent, r.FromSeq, r.ToSeq, display.Thousands(r.Records), r.Seconds)
	if s := r.Start; s != nil {
		text += fmt.Sprintf("\nbegan with %v, state %v: %s", s.Start, s.StateHash, verified(s))
	}
	if r.Challengers > 0 {
		text += fmt.Sprintf("\n%d challengers solved again", r.Challengers)
	}
	for _, a := range r.Abandoned {
		text += fmt.Sprintf("\n%s, by %s: %s", abandoned(a.From, a.To), a.By, a.Reason)
	}
	for _, u := range r.Unread {
		text += fmt.Sprintf("\nseqs %d to %d cannot be replayed: %s", u.FromSeq, u.ToSeq, u.Why)
	}
	for _, s := range r.Stretches {
		switch {
		case !s.Verified && s.Versions != p.Versions():
			text += fmt.Sprintf("\nseqs %d to %d have %v: verify them with a program of that version", s.FromSeq, s.ToSeq, s.Versions)
		case len(r.Stretches) > 1:
			text += fmt.Sprintf("\nseqs %d to %d have %v, as this program", s.FromSeq, s.ToSeq, s.Versions)
		}
	}
	if err := e.Print(v.JSON, text, r); err != nil {
		return err
	}
	switch {
	case r.Divergent > 0:
		return fmt.Errorf("%d of %d snapshots and %d challengers differ from the replay of the model log and the input topics", r.Divergent, r.Compared, r.Challengers)
	case r.Unreached != "":
		return exit.Refuse(errors.New(r.Unreached))
	case r.Compared == 0 && r.Start != nil && ofFile(r.Start):
		return errors.New("nothing to compare: the model log has no snapshot after the one that it begins with, which --from FILE verifies")
	case r.Compared == 0:
		return errors.New("nothing to compare: the model log has no complete snapshot")
	}
	return nil
}

// ofFile reports whether a model began with a file.
func ofFile(s *audit.Started) bool {
	return s.Kind == modellog.StartFile || s.Kind == modellog.StartSnapshot
}

// verified says whether the beginning of a model was verified.
func verified(s *audit.Started) string {
	switch {
	case s.Verified:
		return "verified"
	case ofFile(s):
		return "not verified (give the file with --from)"
	}
	return "not verified"
}
