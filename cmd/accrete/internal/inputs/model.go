// Package inputs describes the input columns of files and models.
package inputs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Column describes an input column of a model.
type Column struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // empty if it had no value
	Becomes string `json:"becomes"`
	Values  int    `json:"values,omitempty"` // for a category with statistics: the number of values that are kept

	ReadFrom string `json:"read_from,omitempty"`  // field that is read where a record lacks the column
	Since    int64  `json:"since_step,omitempty"` // first step at which it is

	note string // what speaks for another type
}

// OfModel describes the columns of the model in s, which may be nil.
func OfModel(s *snapshot.Snapshot) ([]Column, error) {
	if s == nil {
		return nil, nil
	}
	known, err := record.ReadSchema(s.Schema)
	if err != nil {
		return nil, err
	}
	seen, fitted, err := learner.ServedColumns(s.State.Serving)
	if err != nil {
		return nil, err
	}
	var all []Column
	for _, f := range known.Fields() {
		c := Column{Name: f.Name, Type: f.Type, Becomes: "number"}
		if !fitted {
			c.Becomes = undecided
		}
		if text := becomes(f, seen); text != "" {
			c.Becomes, c.Values = text, seen[f.At].Values
		}
		for _, a := range known.Aliases {
			if a.Column == f.Name {
				c.ReadFrom, c.Since = a.Field, a.Step
			}
		}
		all = append(all, c)
	}
	if len(s.Config) == 0 {
		return all, nil
	}
	in, err := record.ReadOptions(s.Config)
	if err != nil {
		return nil, fmt.Errorf("%w: options: %w", snapshot.ErrCorrupt, err)
	}
	for i := range all {
		all[i].Type = schema.WithFormat(all[i].Type, in.Types[all[i].Name])
	}
	for _, c := range notInputs(in.Types) {
		if !slices.ContainsFunc(all, func(o Column) bool { return o.Name == c.Name }) { // windows are computed from it
			all = append(all, c)
		}
	}
	return all, nil
}

// notInputs returns the fields that are declared not to be columns.
func notInputs(types map[string]string) (all []Column) {
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if !schema.IsColumn(types[name]) && types[name] != schema.Pair {
			all = append(all, Column{Name: name, Type: types[name], Becomes: "nothing: it is not an input"})
		}
	}
	return all
}

// Typed returns columns, or nil if all are plain numbers.
func Typed(columns []Column) []Column {
	if slices.ContainsFunc(columns, func(c Column) bool {
		return c.Type != learner.NumericColumn.String() || c.Values > 0 || c.ReadFrom != "" || strings.HasPrefix(c.Becomes, "number,") || strings.HasPrefix(c.Becomes, "normal score")
	}) {
		return columns
	}
	return nil
}

// ModelText returns a line for each of the first mostLines columns, or nothing if all are plain numbers.
func ModelText(columns []Column) string {
	if columns = Typed(columns); columns == nil {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range columns[:min(len(columns), mostLines)] {
		becomes := c.Becomes
		if c.Values > 0 {
			becomes = fmt.Sprintf("%s of %d values", becomes, c.Values)
		}
		if c.ReadFrom != "" {
			becomes += fmt.Sprintf(", read from %.40s", c.ReadFrom)
		}
		if c.Since > 0 {
			becomes += fmt.Sprintf(" since step %d", c.Since)
		}
		fmt.Fprintf(w, "column       %.40s\t%s\t%s\n", c.Name, cmp.Or(c.Type, "unknown"), becomes)
	}
	w.Flush()
	if n := len(columns) - mostLines; n > 0 {
		fmt.Fprintf(&b, "column       and %s others, which --json lists\n", display.Thousands(int64(n)))
	}
	return b.String()
}

// plainKey matches names that need no quotes in YAML, except for the words in notPlain.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

var notPlain = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// YAML returns the columns as input.columns of a configuration.
func YAML(columns []Column) string {
	var b strings.Builder
	b.WriteString("input:\n  columns:\n")
	for _, c := range columns {
		name := c.Name
		if !plainKey.MatchString(name) || slices.Contains(notPlain, strings.ToLower(name)) {
			quoted, _ := json.Marshal(name)
			name = string(quoted)
		}
		typ, note := c.Type, ""
		if typ == "" {
			typ, note = schema.Ignored, "  # no value so far"
		}
		if strings.Contains(typ, "%") {
			typ = strconv.Quote(typ)
		}
		if c.note != "" {
			note = "  # " + strings.ReplaceAll(c.note, "\n", " ")
		}
		if c.ReadFrom != "" {
			field, _ := json.Marshal(c.ReadFrom)
			note = fmt.Sprintf("  # records have it as %s", field)
		}
		fmt.Fprintf(&b, "    %s: %s%s\n", name, typ, note)
	}
	return b.String()
}
