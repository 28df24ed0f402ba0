package modellog

import (
	"fmt"
	"slices"
	"strings"
)

// Columns states how the columns of the records have changed with a BATCH. It does not
// affect what is learned.
type Columns struct {
	Gone    []string `json:"gone,omitempty"`    // without a value in a number of last records
	Back    []string `json:"back,omitempty"`    // with a value again, after they were gone
	New     []string `json:"new,omitempty"`     // fields that are no columns and appear for the first time
	Dropped int64    `json:"dropped,omitempty"` // fields of the records that were ignored because they are no columns
}

// AbsentColumns is what the changes of the columns add up to. It is bounded: what is more
// than MaxNames or has a longer name than MaxName is forgotten. A value never changes.
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
	if c == nil || len(c.Gone)+len(c.Back)+len(c.New) == 0 {
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
	if len(next.Gone)+len(next.New) == 0 {
		return nil
	}
	return next
}

// AbsentColumns returns the columns that are gone and the fields that are ignored after the
// last decision.
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
	return checkNames(c.Gone, c.Back, c.New)
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
	if c.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d fields ignored", c.Dropped))
	}
	return strings.Join(parts, ", ")
}
