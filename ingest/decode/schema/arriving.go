package schema

import "slices"

// Arriving is a field for which there is no column of its type, and which becomes a column once
// enough records have had it. The count is part of the Schema, so that the column is adopted at
// the same record whenever the records are read again.
type Arriving struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Records int    `json:"records"`
}

// MaxArriving bounds the number of fields that are counted. If there are more, frequent fields are
// kept (Misra and Gries 1982).
const MaxArriving = 64

// Arrive counts a record with a field of some type, and returns the number of such records. If the
// field had another type before, counting starts again. s.Arriving is modified in place.
func (s *Schema) Arrive(name, typ string) int {
	for i := range s.Arriving {
		if f := &s.Arriving[i]; f.Name == name {
			if f.Type != typ {
				f.Type, f.Records = typ, 0
			}
			f.Records++
			return f.Records
		}
	}
	if len(s.Arriving) < MaxArriving {
		s.Arriving = append(s.Arriving, Arriving{name, typ, 1})
		return 1
	}
	for i := range s.Arriving {
		s.Arriving[i].Records--
	}
	s.Arriving = slices.DeleteFunc(s.Arriving, func(f Arriving) bool { return f.Records == 0 })
	return 0
}
