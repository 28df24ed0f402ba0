package modellog

import (
	"fmt"
	"slices"
	"strings"
)

// Columns states how the columns of the records have changed with a BATCH. It does not
// affect what is learned.
type Columns struct {
	Gone    []string `json:"gone,omitempty"`    // columns without a value in the last records
	Back    []string `json:"back,omitempty"`    // columns that have values again, after they were gone
	New     []string `json:"new,omitempty"`     // fields that are not columns and appear for the first time
	Dropped int64    `json:"dropped,omitempty"` // number of fields that were ignored because they are not columns

	Adopted []NewColumns `json:"adopted,omitempty"` // fields that became columns
}

// NewColumns states the record of a partition from which on fields are columns.
type NewColumns struct {
	Topic     string   `json:"topic"`
	Partition int32    `json:"partition"`
	From      int64    `json:"from"` // offset of the first record with the columns
	Columns   []string `json:"columns"`
}

// AbsentColumns is the sum of all changes of the columns. It is bounded: more than MaxNames names,
// or names longer than MaxName, are forgotten. An AbsentColumns is never modified.
type AbsentColumns struct {
	Gone []string `json:"gone,omitempty"` // columns without values
	New  []string `json:"new,omitempty"`  // fields that are ignored
}

// Bounds of the columns in a record of the log.
const (
	MaxNames = 256 // in a list
	MaxName  = 256 // bytes
)

// after returns the state after the changes of c.
func (s *AbsentColumns) after(c *Columns) *AbsentColumns {
	if c == nil || len(c.Gone)+len(c.Back)+len(c.New)+len(c.Adopted) == 0 {
		return s
	}
	next := new(AbsentColumns)
	if s != nil {
		*next = *s
	}
	add := func(to, names []string) []string {
		to = slices.Clone(to)
		for _, name := range names {
			if len(to) < MaxNames && !slices.Contains(to, name) {
				to = append(to, name)
			}
		}
		return to
	}
	next.Gone, next.New = add(next.Gone, c.Gone), add(next.New, c.New)
	if next.Gone = slices.DeleteFunc(next.Gone, func(name string) bool { return slices.Contains(c.Back, name) }); len(next.Gone) == 0 {
		next.Gone = nil
	}
	for _, a := range c.Adopted { // fields that became columns are no longer ignored
		next.New = slices.DeleteFunc(next.New, func(name string) bool { return slices.Contains(a.Columns, name) })
	}
	if len(next.New) == 0 {
		next.New = nil
	}
	if len(next.Gone)+len(next.New) == 0 {
		return nil
	}
	return next
}

// AbsentColumns returns the columns that are gone, and the fields that are ignored, as of the last
// decision.
func (f *Fold) AbsentColumns() AbsentColumns {
	if s := f.get().columns; s != nil {
		return *s
	}
	return AbsentColumns{}
}

func (c *Columns) check() error {
	if c == nil {
		return nil
	}
	if c.Dropped < 0 {
		return fmt.Errorf("%d fields ignored", c.Dropped)
	}
	if len(c.Adopted) > MaxNames {
		return fmt.Errorf("%d adoptions of columns, the limit is %d", len(c.Adopted), MaxNames)
	}
	lists := [][]string{c.Gone, c.Back, c.New}
	for _, a := range c.Adopted {
		lists = append(lists, a.Columns)
	}
	return checkNames(lists...)
}

func (s *AbsentColumns) check() error {
	if s == nil {
		return nil
	}
	return checkNames(s.Gone, s.New)
}

func checkNames(lists ...[]string) error {
	for _, names := range lists {
		if len(names) > MaxNames {
			return fmt.Errorf("%d columns in a list, the limit is %d", len(names), MaxNames)
		}
		for _, name := range names {
			if len(name) > MaxName {
				return fmt.Errorf("a column's name of %d bytes, the limit is %d", len(name), MaxName)
			}
		}
	}
	return nil
}

// String returns a phrase; empty for a nil c.
func (c *Columns) String() string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, l := range []struct {
		what  string
		names []string
	}{{"columns gone", c.Gone}, {"columns back", c.Back}, {"new fields", c.New}} {
		if len(l.names) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %q", l.what, l.names))
		}
	}
	for _, a := range c.Adopted {
		parts = append(parts, fmt.Sprintf("adopted from %s/%d offset %d on: %q", a.Topic, a.Partition, a.From, a.Columns))
	}
	if c.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d fields ignored", c.Dropped))
	}
	return strings.Join(parts, ", ")
}
