package schema

import "slices"

// Arriving is a field that is no column, or no column of this type, and that becomes one when
// enough records have had it. A Schema counts them, so that the column is adopted at the same
// record whenever the records are read again.
type Arriving struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Records int    `json:"records"`
}

// MaxArriving bounds the fields that are counted. Of more, those that come often stay
// (Misra and Gries 1982).
const MaxArriving = 64

// Arrive counts a record with a field of that type, and returns how many have had it. Another
// type of the same field begins again. Arriving is changed in place.
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
