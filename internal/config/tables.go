package config

import (
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// Tables are topics whose rows enrich records, each as decode.ParseTable reads it. In the environment
// and on the command line they are separated by semicolons.
type Tables []string

// String joins the tables with semicolons.
func (t Tables) String() string { return strings.Join(t, "; ") }

// Of returns the tables, which are valid.
func (t Tables) Of() (all []decode.Table) {
	for _, text := range t {
		one, err := decode.ParseTable(text)
		if err != nil {
			panic("config: " + err.Error()) // it was checked when it was set
		}
		all = append(all, one)
	}
	return all
}

// parseItems reads the form that the String of Windows or Tables writes, of items that parse
// reads and returns as they are written.
func parseItems(text string, parse func(string) (string, error)) (all []string, err error) {
	for item := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		one, err := parse(item)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ParseTables reads the form that String writes.
func ParseTables(text string) (Tables, error) {
	return parseItems(text, func(item string) (string, error) {
		t, err := decode.ParseTable(item)
		return t.String(), err
	})
}

// tables checks the tables against the other options of the input.
func (v *validation) tables() {
	all := v.Input.Tables.Of()
	if len(all) == 0 {
		return
	}
	c := decode.Config{Format: v.Input.Format, Labels: v.Input.Label, Key: v.Input.Key, Weight: v.Input.Weight, Columns: v.Input.Columns.Names(), Types: v.Input.Columns.Types(), Tables: all, Sparse: v.Input.Sparse > 0}
	if _, err := c.Effective(); err != nil && strings.HasPrefix(err.Error(), "input.tables: ") {
		v.add("input.tables", "%s", strings.TrimPrefix(err.Error(), "input.tables: "))
	}
	for _, t := range all {
		if err := CheckTopic(t.Topic); t.Topic != "" && err != nil {
			v.add("input.tables", "%v", err)
		}
		for _, topic := range v.Input.LearnedTopics() {
			if topic == t.Topic {
				v.add("input.tables", "%s is a topic of records, too: want a topic of rows alone", topic)
			}
		}
	}
	if v.Refit.Every > 0 {
		v.add("refit.every", "cannot be combined with input.tables: a refit reads records again, and the rows have changed since")
	}
}
