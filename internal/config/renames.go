package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// Renames are columns with the fields that they are read from, each as column=field, as in the
// environment and on the command line. In a file they are a mapping.
type Renames []string

// String joins the renames with commas.
func (r Renames) String() string { return strings.Join(r, ",") }

// Of returns the renames.
func (r Renames) Of() (all []decode.Rename) {
	for _, item := range r {
		column, field, _ := strings.Cut(item, "=")
		all = append(all, decode.Rename{Column: column, Field: field})
	}
	return all
}

// checkRename returns an error unless item is column=field.
func checkRename(item string) error {
	if column, field, ok := strings.Cut(item, "="); !ok || column == "" || field == "" || strings.Contains(field, "=") {
		return fmt.Errorf("%s: want column=field, the name of a column and that of the field it is read from", quote(item))
	}
	return nil
}

// renamesOf reads a mapping of columns to fields.
func renamesOf(n *ast.MappingNode) (list []string, err error) {
	for _, entry := range n.Values {
		key, plain := entry.Key.(ast.ScalarNode)
		field, ok := scalar(entry.Value)
		if !plain || !ok {
			return nil, errors.New("want column: field")
		}
		if column := key.GetToken().Value; strings.ContainsAny(column+field, "=,") {
			return nil, fmt.Errorf("%s: %s: want names without = and commas", quote(column), quote(field))
		}
		list = append(list, key.GetToken().Value+"="+field)
	}
	return list, nil
}

// renames checks the renames against the other options of the input.
func (v *validation) renames() {
	c := decode.Config{Format: v.Input.Format, Labels: v.Input.Label, Key: v.Input.Key, Weight: v.Input.Weight, Columns: v.Input.Columns.Names(), Types: v.Input.Columns.Types(), Windows: v.Input.Windows.Of()}
	if err := c.CheckRenames(v.Input.Renames.Of()); err != nil {
		v.add("input.renames", "%s", strings.TrimPrefix(err.Error(), "input.renames: "))
	}
}
