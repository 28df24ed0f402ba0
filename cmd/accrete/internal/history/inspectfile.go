package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/snapshot"
)

// comparison lists the differences between two snapshots.
type comparison struct {
	Equal       bool                  `json:"equal"`
	Differences []snapshot.Difference `json:"differences"`
}

func (i *Inspect) compare(e *env.Env) error {
	var s [2]*snapshot.Snapshot
	for k, path := range []string{i.File, i.Diff} {
		b, err := files.ReadSnapshot(path)
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
	return e.Print(i.JSON, strings.TrimSuffix(b.String(), "\n"), c)
}

func (i *Inspect) file(e *env.Env) error {
	b, err := files.ReadSnapshot(i.File)
	if err != nil {
		return err
	}
	d, err := snapshot.Describe(b, 0)
	if d == nil {
		return exit.Refuse(fmt.Errorf("%s: %w", i.File, err))
	}
	m := new(description)
	if err != nil {
		err = fmt.Errorf("%s: %w", i.File, err)
	} else {
		s, _ := snapshot.Decode(b, 0) // Describe has decoded it
		if m, err = newModel(s); err == nil && i.Importance {
			m.Importance, err = importanceOf(s)
		}
		if err != nil {
			return exit.Refuse(fmt.Errorf("%s: %w", i.File, err))
		}
	}
	if i.Columns {
		return cmp.Or(err, i.configuration(e, m.columns))
	}
	return errors.Join(e.Print(i.JSON, fileText(d, m), struct {
		*snapshot.Description
		*description
	}{d, m}), err)
}

func fileText(d *snapshot.Description, m *description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "snapshot     format %s, %s bytes, serving part %s\n", d.Format, display.Thousands(d.Size), display.Thousands(d.ServingSize))
	fmt.Fprintf(&b, "model        %q, step %d, seq %d, epoch %d\n", d.Model, d.Step, d.Seq, d.Epoch)
	fmt.Fprintf(&b, "state        %v\n", d.StateHash)
	fmt.Fprintf(&b, "lineage      %v\n", d.Lineage)
	fmt.Fprintf(&b, "options      %s\n", d.Config)
	b.WriteString(schemaText(d.Schema))
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
	b.WriteString(m.String())
	for _, s := range d.Sections {
		if s.Serving && (s.Name == "kernel" || s.Name == "loss") && s.Values != nil {
			fmt.Fprintf(&b, "%-12s %.100q\n", s.Name, s.Values)
		}
	}
	b.WriteString(arraysText(d.Sections))
	if d.Damage != "" {
		fmt.Fprintf(&b, "DAMAGED      %s\n", d.Damage)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// schemaText says what is predicted from what, or nothing of a schema that cannot be read.
func schemaText(schema []byte) string {
	known, err := record.ReadSchema(schema)
	if err != nil || len(known.Columns) == 0 {
		return ""
	}
	text := fmt.Sprintf("schema       %s from %s", cmp.Or(known.Task, "no task yet,"), display.Count(int64(len(known.Fields())), "column"))
	if n := len(known.Classes); n > 0 {
		some := known.Classes[:min(n, 10)]
		text += fmt.Sprintf(", %s: %.200q", display.Count(int64(n), "class"), some)
		if n > len(some) {
			text += " and others"
		}
	}
	return text + "\n"
}

// mostGroups is the number of groups of arrays that have a line.
const mostGroups = 8

// arraysText sums up the parts of a file by the first words of their names: largest groups first.
func arraysText(sections []snapshot.Section) string {
	type group struct {
		name, part string
		arrays     int
		bytes      int64
		largest    snapshot.Section
	}
	var all []group
	for _, s := range sections {
		name, _, _ := strings.Cut(cmp.Or(s.Name, s.Kind), ".")
		part := "resuming"
		if s.Serving {
			part = "serving"
		}
		i := slices.IndexFunc(all, func(g group) bool { return g.name == name && g.part == part })
		if i < 0 {
			i, all = len(all), append(all, group{name: name, part: part})
		}
		g := &all[i]
		g.arrays, g.bytes = g.arrays+1, g.bytes+s.Length
		if s.Length >= g.largest.Length {
			g.largest = s
		}
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(b.bytes, a.bytes) })
	var b strings.Builder
	fmt.Fprintf(&b, "arrays       %d, of which --json has shapes, sizes and short values; the largest groups:\n", len(sections))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, g := range all[:min(len(all), mostGroups)] {
		name := cmp.Or(g.largest.Name, g.largest.Kind)
		fmt.Fprintf(w, "  %s\t%s\t%s bytes\t%s, %s %d x %d is the largest\n", g.name, g.part, display.Thousands(g.bytes), display.Count(int64(g.arrays), "array"), name, g.largest.Shape[0], g.largest.Shape[1])
	}
	w.Flush()
	return b.String()
}
