package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/snapshot"
)

type inspectCommand struct {
	configFlags
	jsonFlag
	File    string `arg:"" optional:"" help:"Snapshot file (default: the model log of the configuration)."`
	Diff    string `placeholder:"FILE" help:"Second snapshot file: print the differences."`
	Columns bool   `help:"Print only the columns and their types, as input.columns for the configuration of a new model."`
	Records int    `default:"10" help:"Number of newest model log records to show (${default})."`
}

func (inspectCommand) Help() string {
	return `Describes a snapshot file, or the model log of a configuration: its owner, the progress of the model, its snapshots, what its columns became, and the newest records, with the reason for each that is void.`
}

func (inspectCommand) Examples() string {
	return `
accrete inspect model.snap
accrete inspect before.snap --diff after.snap
accrete inspect -c accrete.yaml --records 20
accrete inspect model.snap --columns
accrete inspect -c accrete.yaml --json`
}

func (i *inspectCommand) Run(ctx context.Context, e *env) error {
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
	c, client, err := i.open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	p, err := pipelineConfig(c, client, e.warnOfRetries)
	if err != nil {
		return err
	}
	r, broken := pipeline.Inspect(ctx, p, i.Records)
	if r == nil {
		return broken
	}
	columns, err := columnsOf(r.Newest)
	if err != nil {
		return cmp.Or(broken, err)
	}
	if i.Columns {
		return cmp.Or(broken, i.configuration(e, columns))
	}
	return cmp.Or(e.print(i.JSON, logText(r, columns), struct {
		*pipeline.LogReport
		Columns []modelColumn `json:"columns,omitempty"`
	}{r, typed(columns)}), broken)
}

func logText(r *pipeline.LogReport, columns []modelColumn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model log    %s, offsets %d to %d, %s bytes\n", r.Topic, r.First, r.End, display.Thousands(r.Bytes))
	fmt.Fprintf(&b, "claim        epoch %d, %s\n", r.Claim.Epoch, r.Claim.Host)
	fmt.Fprintf(&b, "history      seq %d, published to %d\n", r.Seq, r.Released)
	fmt.Fprintf(&b, "options      %s\n", r.Options)
	for _, s := range r.Snapshots {
		fmt.Fprintf(&b, "snapshot     %s\n", strings.TrimPrefix(s.String(), "snapshot "))
	}
	if r.Damage != "" {
		fmt.Fprintf(&b, "DAMAGED      the newest snapshot: %s\n", r.Damage)
	}
	b.WriteString(modelColumnsText(columns))
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

// comparison lists the differences between two snapshots.
type comparison struct {
	Equal       bool                  `json:"equal"`
	Differences []snapshot.Difference `json:"differences"`
}

func (i *inspectCommand) compare(e *env) error {
	var s [2]*snapshot.Snapshot
	for k, path := range []string{i.File, i.Diff} {
		b, err := readSnapshot(path)
		if err != nil {
			return err
		}
		if s[k], err = snapshot.Decode(b, 0); err != nil {
			return exit.Refuse(fmt.Errorf("%s: %w", path, err))
		}
	}
	c := comparison{Differences: snapshot.Diff(s[0], s[1])}
	c.Equal = len(c.Differences) == 0
	var b strings.Builder
	for _, d := range c.Differences {
		fmt.Fprintf(&b, "%v\n", d)
	}
	if c.Equal {
		b.WriteString("no differences: the same model at the same point of its history")
	}
	return e.print(i.JSON, strings.TrimSuffix(b.String(), "\n"), c)
}

func readSnapshot(path string) ([]byte, error) {
	b, err := snapshot.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noFile(path)
	}
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	return b, nil
}

func (i *inspectCommand) file(e *env) error {
	b, err := readSnapshot(i.File)
	if err != nil {
		return err
	}
	d, err := snapshot.Describe(b, 0)
	if d == nil {
		return exit.Refuse(fmt.Errorf("%s: %w", i.File, err))
	}
	var columns []modelColumn
	if err == nil {
		s, _ := snapshot.Decode(b, 0) // Describe has decoded it
		if columns, err = columnsOf(s); err != nil {
			return exit.Refuse(fmt.Errorf("%s: %w", i.File, err))
		}
	}
	if i.Columns {
		return cmp.Or(err, i.configuration(e, columns))
	}
	return errors.Join(e.print(i.JSON, fileText(d, columns), struct {
		*snapshot.Description
		Columns []modelColumn `json:"columns,omitempty"`
	}{d, typed(columns)}), err)
}

// configuration prints columns for a configuration.
func (i *inspectCommand) configuration(e *env, columns []modelColumn) error {
	if len(columns) == 0 {
		return exit.Refuse(errors.New("the model has no columns yet"))
	}
	return e.print(false, strings.TrimSuffix(columnsYAML(columns), "\n"), nil)
}

func fileText(d *snapshot.Description, columns []modelColumn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "snapshot     format %s, %s bytes, serving part %s\n", d.Format, display.Thousands(d.Size), display.Thousands(d.ServingSize))
	fmt.Fprintf(&b, "model        %q, step %d, seq %d, epoch %d\n", d.Model, d.Step, d.Seq, d.Epoch)
	fmt.Fprintf(&b, "state        %v\n", d.StateHash)
	fmt.Fprintf(&b, "lineage      %v\n", d.Lineage)
	fmt.Fprintf(&b, "options      %s\n", d.Config)
	fmt.Fprintf(&b, "schema       %.200s\n", d.Schema)
	for _, p := range d.Positions {
		fmt.Fprintf(&b, "position     %s/%d at %d\n", p.Topic, p.Partition, p.Next)
	}
	if d.Writer != "" {
		fmt.Fprintf(&b, "written by   %s", d.Writer)
		if d.Time != nil {
			fmt.Fprintf(&b, " at %s", d.Time.UTC().Format("2006-01-02 15:04:05Z"))
		}
		b.WriteByte('\n')
	}
	b.WriteString(modelColumnsText(columns))
	for _, s := range d.Sections {
		name := s.Kind
		if s.Name != "" {
			name = s.Name
		}
		part := "resuming"
		if s.Serving {
			part = "serving"
		}
		fmt.Fprintf(&b, "  %-24s %-9s %-8s %6d x %-6d %s\n", name, part, s.Type, s.Shape[0], s.Shape[1], preview(s.Values))
	}
	if d.Damage != "" {
		fmt.Fprintf(&b, "DAMAGED      %s\n", d.Damage)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func preview(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.60s", fmt.Sprint(v))
}
