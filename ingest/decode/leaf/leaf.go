// Package leaf is shared by the formats with a schema. A record is read as a list of leaves: its
// scalars, with their paths and roles.
package leaf

// Kind is the kind of a value.
type Kind byte

// The kinds. Object and List are for values whose contents are not read.
const (
	Null Kind = iota
	Boolean
	Number
	Text
	Time // seconds since 1970
	Object
	List
)

// Role is the purpose of a value.
type Role byte

// The roles.
const (
	Input  Role = iota
	Index       // an input by its index, in a list x
	Label       // the only label, or label number Leaf.Target
	Weight      // of an example
	Key         // of a record
	Other       // a field beside x or features without a meaning
)

// Leaf is a scalar of a record.
type Leaf struct {
	Name   []byte // path
	Role   Role
	Target int16 // of a Label, where there are several
	Kind   Kind
	Num    float64
	Text   []byte // the text of a Text; true or false for a Boolean; the digits of a Number that a float64 cannot represent
}

// Names configures which fields are not inputs, and how deep to read.
type Names struct {
	Label       func(name string) (target int, ok bool) // target -1: the only label
	Weight, Key string                                  // as configured; empty: by their usual names, beside x or features
	Depth       int                                     // levels of objects and lists whose values are inputs
	Whole       func(path string) bool                  // whether an object or a list is not read any deeper
	Most        int                                     // maximum number of leaves
}

// A Field is a field at the top of a schema.
type Field struct {
	Name         string
	Object, List bool
}

// A Form is how the fields of a schema are used.
type Form struct {
	X        int // index of the list x, or -1
	Features int // index of the object features, or -1
	names    Names
}

// FormOf returns the form of a schema: the inputs are in a list x, in an object features, or
// every field is one.
func FormOf(fields []Field, n Names) Form {
	f := Form{-1, -1, n}
	for i, field := range fields {
		switch {
		case field.Name == "x" && field.List:
			f.X = i
		case field.Name == "features" && field.Object:
			f.Features = i
		}
	}
	if f.X >= 0 && f.Features >= 0 {
		f.X = -1
	}
	return f
}

// Nested reports whether the inputs are in a list or an object.
func (f Form) Nested() bool { return f.X >= 0 || f.Features >= 0 }

// RoleOf returns the role of field i.
func (f Form) RoleOf(i int, name string) (Role, int16) {
	named := func(configured, usual string) bool {
		return name == configured || configured == "" && f.Nested() && name == usual
	}
	target, label := f.names.Label(name)
	switch {
	case i == f.X:
		return Index, 0
	case i == f.Features:
		return Input, 0
	case label:
		return Label, int16(target)
	case named(f.names.Weight, "weight"):
		return Weight, 0
	case named(f.names.Key, "key"):
		return Key, 0
	case f.Nested():
		return Other, 0
	}
	return Input, 0
}
