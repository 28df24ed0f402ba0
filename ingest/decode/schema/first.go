package schema

import (
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// First returns s for a model that has only the first n columns. The remaining columns move to
// Adopted.
func (s *Schema) First(n int) *Schema {
	if n >= len(s.Columns) {
		return s
	}
	of := *s
	of.Columns, of.Adopted = s.Columns[:n:n], s.Columns[n:]
	if s.Types != nil {
		of.Types, of.AdoptedTypes = s.Types[:n:n], s.Types[n:]
		if !slices.ContainsFunc(of.Types, func(t string) bool { return t != learner.NumericColumn.String() }) {
			of.Types = nil
		}
	}
	return &of
}

// Whole returns the Schema of which s is the First.
func (s *Schema) Whole() *Schema {
	if len(s.Adopted) == 0 {
		return s
	}
	of := *s
	of.Columns, of.Adopted, of.Aliases = slices.Concat(s.Columns, s.Adopted), nil, s.Declared()
	if s.Types != nil || s.AdoptedTypes != nil {
		types := func(names []string, n int) []string {
			if names == nil {
				return slices.Repeat([]string{learner.NumericColumn.String()}, n)
			}
			return names
		}
		of.Types, of.AdoptedTypes = slices.Concat(types(s.Types, len(s.Columns)), types(s.AdoptedTypes, len(s.Adopted))), nil
	}
	return &of
}
