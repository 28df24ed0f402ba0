package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// Windows are statistics of earlier records, each as decode.ParseWindow reads it. In the
// environment and on the command line they are separated by semicolons.
type Windows []string

// String joins the windows with semicolons.
func (w Windows) String() string { return strings.Join(w, "; ") }

// Of returns the windows, which are valid.
func (w Windows) Of() (all []decode.Window) {
	for _, text := range w {
		one, err := decode.ParseWindow(text)
		if err != nil {
			panic("config: " + err.Error()) // it was checked when it was set
		}
		all = append(all, one)
	}
	return all
}

// ParseWindows reads the form that String writes.
func ParseWindows(text string) (Windows, error) {
	return parseItems(text, func(item string) (string, error) {
		w, err := decode.ParseWindow(item)
		return w.String(), err
	})
}

// mapping sets the options of a window or a table from a mapping.
func mapping(n *ast.MappingNode, set func(name string, values []string) error) error {
	for _, entry := range n.Values {
		key, plain := entry.Key.(ast.ScalarNode)
		if !plain {
			return fmt.Errorf("want plain keys")
		}
		var values []string
		if list, is := entry.Value.(*ast.SequenceNode); is {
			for _, item := range list.Values {
				value, ok := scalar(item)
				if !ok {
					return fmt.Errorf("%s: want a list of plain values", key.GetToken().Value)
				}
				values = append(values, value)
			}
		} else if value, ok := scalar(entry.Value); ok {
			values = []string{value}
		} else {
			return fmt.Errorf("%s: want a plain value, or a list", key.GetToken().Value)
		}
		for _, v := range values {
			if v == "" || strings.ContainsAny(v, " =,;") {
				return fmt.Errorf("%s: %s: want a value without spaces, =, commas and semicolons", key.GetToken().Value, quote(v))
			}
		}
		if err := set(key.GetToken().Value, values); err != nil {
			return err
		}
	}
	return nil
}

// windows checks the windows against the other options of the input.
func (v *validation) windows() {
	if len(v.Input.Windows) == 0 {
		return
	}
	c := decode.Config{Labels: v.Input.Label, Key: v.Input.Key, Weight: v.Input.Weight, Columns: v.Input.Columns.Names(), Types: v.Input.Columns.Types(), Windows: v.Input.Windows.Of()}
	if _, err := c.Effective(); err != nil && strings.HasPrefix(err.Error(), "input.windows: ") {
		v.add("input.windows", "%s", strings.TrimPrefix(err.Error(), "input.windows: "))
	}
	if v.Refit.Every > 0 {
		v.add("refit.every", "cannot be combined with input.windows: a refit reads rows again whose windows are gone")
	}
}
