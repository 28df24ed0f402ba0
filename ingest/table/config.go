// Package table keeps the rows of compacted topics, which are used to enrich records.
package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/options"
)

// Config describes a table: a compacted topic in which the newest record of each key is a row.
// It is part of the options of a model.
type Config struct {
	Topic  string   `json:"topic"`
	As     string   `json:"as,omitempty"` // name of the table; empty: that of the topic
	Key    string   `json:"key"`          // field of a record to be enriched with the key of its row
	Fields []string `json:"fields"`       // fields of a row, or paths, that become columns
	Rows   int      `json:"rows"`         // maximum number of rows; 0: 100,000
}

// defaultRows is the default of Config.Rows: about 20 MB of memory if rows are short.
const defaultRows = 100_000

// MaxRows is the largest Config.Rows, and MaxFields the largest number of fields.
const (
	MaxRows   = 10_000_000
	MaxFields = 256
)

// options lists the options of c by name.
func (c *Config) options() options.List {
	return options.List{
		options.Text("topic", &c.Topic), options.Text("as", &c.As), options.Text("key", &c.Key),
		options.Texts("fields", &c.Fields), options.Number("rows", &c.Rows),
	}
}

// Parse reads the format of String.
func Parse(s string) (c Config, err error) {
	err = c.options().Parse(s, "topic=customers key=customer_id fields=tier,country")
	return c, err
}

// Set sets an option by name.
func (c *Config) Set(name string, values []string) error { return c.options().Set(name, values) }

// String returns the options as name=value, separated by spaces.
func (c Config) String() string { return c.options().String() }

// Name returns the name of the table, which is the prefix of its column names.
func (c *Config) Name() string { return cmp.Or(c.As, c.Topic) }

// Columns returns the names of the columns: the name of the table and that of a field, as in
// customers.tier.
func (c *Config) Columns() (names []string) {
	for _, field := range c.Fields {
		names = append(names, c.Name()+"."+field)
	}
	return names
}

// Effective returns c with all defaults filled in, or an error if c is invalid.
func (c Config) Effective() (Config, error) {
	if c.Rows == 0 {
		c.Rows = defaultRows
	}
	switch {
	case c.Topic == "":
		return c, errors.New("topic: want the compacted topic that has the rows")
	case c.Key == "":
		return c, errors.New("key: want the field of the records that has the key of their row")
	case len(c.Fields) == 0 || len(c.Fields) > MaxFields:
		return c, fmt.Errorf("fields: want 1 to %d fields of a row, such as [tier, country]", MaxFields)
	case c.Rows < 1 || c.Rows > MaxRows:
		return c, fmt.Errorf("rows is %d: want 1 to %d", c.Rows, MaxRows)
	}
	for _, name := range append([]string{c.Topic, c.As, c.Key}, c.Fields...) {
		if strings.ContainsAny(name, " =,;*") {
			return c, fmt.Errorf("%s: want a name without spaces, =, commas, semicolons and *", strconv.Quote(name))
		}
	}
	for i, field := range c.Fields {
		if field == "" || slices.Contains(c.Fields[:i], field) {
			return c, fmt.Errorf("fields: %s is empty or comes twice", strconv.Quote(field))
		}
	}
	return c, nil
}
