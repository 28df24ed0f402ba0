package encode

// Type is the type of a raw column.
type Type byte

// The types of columns. A raw value is NaN if it is missing.
const (
	Numeric   Type = iota
	Category       // the value is a Key
	Boolean        // 0 or 1
	Time           // seconds since 1970, UTC
	Unknown        // all values so far are missing
	Text           // the share of the n-grams of a text in one bucket
	Normal         // numbers, to be seen as normal scores
	Trend          // like Time, and later is not the same as earlier
	Since          // like Time, of the record whose key is in the next column of type RecordKey
	RecordKey      // the Key of the record's key
	types
)

var typeNames = [...]string{"numeric", "category", "boolean", "time", "unknown", "text", "numeric:normal", "time:trend", "time:since", "key"}

// String returns the name of t.
func (t Type) String() string {
	if t < types {
		return typeNames[t]
	}
	return "invalid"
}

// Valid reports whether t is one of the types.
func (t Type) Valid() bool { return t < types }

// Values returns the type of columns with the same values, which is t unless t also says
// what they become.
func (t Type) Values() Type {
	switch t {
	case Normal:
		return Numeric
	case Trend, Since:
		return Time
	}
	return t
}
