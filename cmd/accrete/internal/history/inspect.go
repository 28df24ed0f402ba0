package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/audit"
)

// Inspect is accrete inspect.
type Inspect struct {
	env.ConfigFlags
	env.JSONFlag
	File       string `arg:"" optional:"" help:"Snapshot file (default: the model log of the configuration)."`
	Diff       string `placeholder:"FILE" help:"Second snapshot file: print the differences."`
	Columns    bool   `help:"Print only the columns and their types, as input.columns for the configuration of a new model."`
	Importance bool   `help:"Also print how much each column matters for the scores of the newest snapshot, or of the file; see docs/audit.md."`
	Records    int    `default:"10" help:"Number of newest model log records to show (${default})."`
}

func (Inspect) Help() string {
	return `Describes a snapshot file, or the model log of a configuration: its owner, the progress of the model, its snapshots, what its columns became, changes of the inputs, and the newest records, with the reason for each that is void.`
}

func (Inspect) Examples() string {
	return `
accrete inspect model.snap
accrete inspect before.snap --diff after.snap
accrete inspect -c accrete.yaml --records 20
accrete inspect model.snap --columns
accrete inspect model.snap --importance
accrete inspect -c accrete.yaml --json`
}

// Validate rejects a negative number. Kong calls it.
func (i *Inspect) Validate() error {
	if i.Records < 0 {
		return fmt.Errorf("--records is %d: want 0 or more", i.Records)
	}
	return nil
}

func (i *Inspect) Run(ctx context.Context, e *env.Env) error {
	switch {
	case i.Diff != "" && i.File == "":
		return exit.Usage("--diff needs a snapshot file as argument to compare with")
	case i.Columns && (i.Diff != "" || i.JSON):
		return exit.Usage("--columns prints a configuration: omit --diff and --json")
	case i.Diff != "":
		return i.compare(e)
	case i.File != "":
		return i.file(e)
	}
	c, client, err := i.Open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	p, err := setup.Pipeline(c, client, e.WarnOfRetries)
	if err != nil {
		return err
	}
	r, broken := audit.Inspect(ctx, p, i.Records)
	if r == nil {
		return broken
	}
	m, err := newModel(r.Newest)
	if err != nil {
		return cmp.Or(broken, err)
	}
	if i.Columns {
		return cmp.Or(broken, i.configuration(e, m.columns))
	}
	if i.Importance {
		if m.Importance, err = importanceOf(r.Newest); err != nil {
			return cmp.Or(broken, err)
		}
	}
	return cmp.Or(e.Print(i.JSON, logText(r, m), struct {
		*audit.LogReport
		*description
	}{r, m}), broken)
}

func logText(r *audit.LogReport, m *description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model log    %s, offsets %d to %d, %s bytes\n", r.Topic, r.First, r.End, display.Thousands(r.Bytes))
	fmt.Fprintf(&b, "claim        epoch %d, %s, %v\n", r.Claim.Epoch, cmp.Or(r.Claim.Host, "owner unknown"), r.Claim.Versions.Known())
	fmt.Fprintf(&b, "history      seq %d, published to %d\n", r.Seq, r.Released)
	fmt.Fprintf(&b, "options      %s\n", r.Options)
	for _, s := range r.Snapshots {
		fmt.Fprintf(&b, "snapshot     %s\n", strings.TrimPrefix(s.String(), "snapshot "))
	}
	if r.Damage != "" {
		fmt.Fprintf(&b, "DAMAGED      the newest snapshot: %s\n", r.Damage)
	}
	b.WriteString(m.String())
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "columns      seq %d, %s: %v\n", c.Seq, c.Time.Format("2006-01-02 15:04:05Z"), c.Columns)
	}
	if n := len(r.Absent.Gone); n > 0 {
		fmt.Fprintf(&b, "columns      without values now: %q\n", r.Absent.Gone)
	}
	for _, c := range r.Challengers {
		fmt.Fprintf(&b, "challenger   %v\n", c)
	}
	for _, v := range r.Records {
		fmt.Fprintf(&b, "%v\n", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// configuration prints columns as input.columns of a configuration.
func (i *Inspect) configuration(e *env.Env, columns []inputs.Column) error {
	if len(columns) == 0 {
		return exit.Refuse(errors.New("the model has no columns yet"))
	}
	return e.Print(false, strings.TrimSuffix(inputs.YAML(columns), "\n"), nil)
}
