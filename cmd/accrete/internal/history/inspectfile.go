package history

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
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
	b.WriteString(m.String())
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
	text := fmt.Sprint(v)
	if strings.ContainsFunc(text, func(c rune) bool { return !strconv.IsPrint(c) }) {
		text = strconv.Quote(text)
	}
	return fmt.Sprintf("%.60s", text)
}
