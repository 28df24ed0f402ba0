package encode

import (
	"fmt"
	"strconv"
	"strings"
)

// Type is the type of a raw column: one of the constants, what Decayed makes of Category, or
// one of Encoded.
type Type uint32

// The types of columns. A raw value is NaN if it is missing.
const (
	Numeric   Type = iota
	Category       // the value is a Key
	Boolean        // 0 or 1
	Time           // seconds since 1970, UTC
	Unknown        // all values so far are missing
	Text           // the share of the n-grams of a text in one bucket
	Normal         // numbers, to be seen as normal scores
	Trend          // like Time, and the time itself is an input as well
	Since          // like Time, of the record whose key is in the next column of type RecordKey
	RecordKey      // the Key of the record's key
	Pair           // like Category, of the values that two other columns have together
	Window         // like Numeric, a statistic of the earlier records of a key
	Source         // a key or a time that windows are computed from, and no input
	Gram           // the Key of an n-gram of a text, above 0; 0 if the text has no more of them
	types
)

var typeNames = [...]string{"numeric", "category", "boolean", "time", "unknown", "text", "numeric:normal", "time:trend", "time:since", "key", "pair", "window", "source", "gram"}

// MaxHalfLife is the longest half-life of the statistics of a category, in rows.
const MaxHalfLife = 10_000_000

const (
	kindBits = 8   // of a Type; the others are the half-life
	firstOwn = 128 // plus the index of an encoder: the type of its own
	decay    = "category:decay="
)

// Encoded returns the types that encoders have of their own, see their field as.
func Encoded() (all []Type) {
	for k := range encoders {
		if encoders[k].as != "" {
			all = append(all, Type(firstOwn+k))
		}
	}
	return all
}

// encoder returns the encoder whose own type t is; nil if there is none.
func (t Type) encoder() *encoder {
	if t < firstOwn || int(t-firstOwn) >= len(encoders) || encoders[t-firstOwn].as == "" {
		return nil
	}
	return &encoders[t-firstOwn]
}

// Decayed returns the type of categories whose statistics have a half-life in learned
// rows, 1 to MaxHalfLife.
func Decayed(halfLife int) Type { return Category | Type(halfLife)<<kindBits }

// ParseDecayed reads the name of a type that Decayed returns. is reports whether name is
// meant as one.
func ParseDecayed(name string) (t Type, is bool, err error) {
	digits, is := strings.CutPrefix(name, decay)
	if !is {
		return 0, strings.HasPrefix(name, strings.TrimSuffix(decay, "=")), errDecay
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > MaxHalfLife || strconv.Itoa(n) != digits {
		return 0, true, errDecay
	}
	return Decayed(n), true, nil
}

var errDecay = fmt.Errorf("want a half-life of 1 to %d rows, such as %s10000", MaxHalfLife, decay)

// HalfLife returns the half-life of the statistics of a category, in rows; 0 if they do
// not decay.
func (t Type) HalfLife() int { return int(t >> kindBits) }

// String returns the name of t.
func (t Type) String() string {
	switch {
	case !t.Valid():
		return "invalid"
	case t.HalfLife() > 0:
		return decay + strconv.Itoa(t.HalfLife())
	case t.encoder() != nil:
		return "numeric:" + t.encoder().as
	}
	return typeNames[t]
}

// Valid reports whether t is a type.
func (t Type) Valid() bool {
	return t < types || t.encoder() != nil || t&(1<<kindBits-1) == Category && t.HalfLife() <= MaxHalfLife
}

// Values returns the type of the raw values of a column of type t. It differs from t if t also says
// what the values become.
func (t Type) Values() Type {
	switch t {
	case Normal, Window:
		return Numeric
	case Trend, Since:
		return Time
	}
	if t.encoder() != nil {
		return Numeric
	}
	return t & (1<<kindBits - 1)
}
