package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// Duration is a time span in Go's notation: "5ms", "1m30s".
type Duration time.Duration

// ParseDuration parses the form that String writes.
func ParseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration: want a number with a unit, for example 5ms, 10s, 1m or 2h", quote(s))
	}
	return Duration(d), nil
}

// String omits zero units: "1m", not "1m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText writes what String writes.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Size is a number of bytes: "2GiB", "64MiB", "5GB", "1500".
type Size int64

var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseSize parses the form that String writes, and decimal units.
func ParseSize(s string) (Size, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	scale := int64(1)
	if unit := s[len(digits):]; unit != "" {
		scale = 0
		for _, u := range units {
			if strings.EqualFold(unit, u.name) {
				scale = u.bytes
			}
		}
	}
	n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
	if err != nil || scale == 0 {
		return 0, fmt.Errorf("%s is not a size: want a whole number with a unit, for example 64MiB, 2GiB or 5GB", quote(s))
	}
	if n > uint64(math.MaxInt64/scale) {
		return 0, fmt.Errorf("%s is too large", quote(s))
	}
	return Size(int64(n) * scale), nil
}

// String uses the unit that divides s with the shortest result, and a binary one of equals:
// "64MiB", "2MB", "1500B".
func (s Size) String() string {
	shortest := strconv.FormatInt(int64(s), 10) + "B"
	for _, u := range units {
		if s == 0 || int64(s)%u.bytes != 0 {
			continue
		}
		if text := strconv.FormatInt(int64(s)/u.bytes, 10) + u.name; len(text) < len(shortest) {
			shortest = text
		}
	}
	return shortest
}

// MarshalText writes what String writes.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Columns are the input columns, each a name or, with a type, name:type; nil means auto.
// With Others they are declared for some of the columns.
type Columns []string

// Others are the columns that are not declared, in Columns.
const Others = "*"

// ParseColumns returns the columns of a list, in which *:auto, as in a mapping, is Others.
func ParseColumns(list []string) Columns {
	c := slices.Clone(Columns(list))
	for i, item := range c {
		if name, t, _ := strings.Cut(item, ":"); name == Others && strings.TrimSpace(t) == "auto" {
			c[i] = Others
		}
	}
	return c
}

// Check returns an error if c contains a column twice, Others with a type, a column without a type beside
// Others, or a misspelt type.
func (c Columns) Check() error {
	others, seen := slices.Contains(c, Others), map[string]bool{}
	for _, item := range c {
		name, t := splitColumn(item)
		if seen[name] {
			return fmt.Errorf("duplicate column %s", quote(name))
		}
		seen[name] = true
		i, sure := misspeltAt(item)
		_, err := schema.ParseType(strings.TrimSpace(item[i+1:]))
		switch {
		case item == Others:
		case name == Others:
			return fmt.Errorf("%s stands for the columns that are not named: the type of each is that of its first value", Others)
		case t == "" && i > 0 && err != nil && (others || sure):
			return fmt.Errorf("%s: %w", quote(item[:i]), err)
		case t == "" && i > 0 && len(item)-i > leastMisspelt && schema.Suggest(item[i+1:]) != "":
			return fmt.Errorf("%s: %w; if the colon belongs to its name, write the type behind it", quote(item[:i]), err)
		case others && t == "":
			return fmt.Errorf("%s has no type: beside %s, which stands for all other columns, want name:type", quote(item), Others)
		}
	}
	return nil
}

// misspeltAt returns the colon before what may be a type, in an item without one: the last colon, or that
// before a type with an option. If the option has a value, it is surely meant as a type.
func misspeltAt(item string) (colon int, sure bool) {
	for _, typ := range []string{"category:decay=", "time:%", "time:trend:%", "time:since:%"} {
		if colon = strings.Index(item, ":"+typ); colon > 0 {
			return colon, true
		}
	}
	colon = strings.LastIndexByte(item, ':')
	if first := strings.LastIndexByte(item[:max(0, colon)], ':'); first > 0 && schema.Suggest(item[colon+1:]) == "" && schema.Suggest(item[first+1:]) != "" {
		return first, false // numeric:norml
	}
	return colon, false
}

// leastMisspelt is the length of the shortest text that can be a misspelt type.
const leastMisspelt = 3

// Names returns the names of the columns, without fields that are ignored or an id; nil means auto,
// or Others beside the declared ones.
func (c Columns) Names() (names []string) {
	if slices.Contains(c, Others) {
		return nil
	}
	for _, item := range c {
		if name, t := splitColumn(item); schema.IsColumn(t) {
			names = append(names, name)
		}
	}
	return names
}

// Types returns the declared types, by name.
func (c Columns) Types() map[string]string {
	types := map[string]string{}
	for _, item := range c {
		if name, t := splitColumn(item); t != "" {
			types[name] = t
		}
	}
	return types
}

// splitColumn returns the name and the type of a column. What follows the last colon, or
// the last but one, belongs to the name unless it is a type, which may be one with a format
// of times.
func splitColumn(item string) (name, typ string) {
	i := len(item)
	for range 2 {
		if i = strings.LastIndexByte(item[:i], ':'); i <= 0 {
			break
		}
		typ = strings.TrimSpace(item[i+1:])
		if _, err := schema.ParseType(typ); err == nil || !schema.IsColumn(typ) {
			return item[:i], typ
		}
	}
	if i := strings.Index(item, ":time:"); i > 0 { // a format of times may have more colons
		if _, err := schema.ParseType(item[i+1:]); err == nil {
			return item[:i], item[i+1:]
		}
	}
	return item, ""
}

// String joins the names with commas.
func (c Columns) String() string {
	if c == nil {
		return "auto"
	}
	return strings.Join(c, ",")
}

// Label holds the names of the label fields, usually one.
type Label []string

// String joins the names with commas.
func (l Label) String() string { return strings.Join(l, ",") }

// Secret is a text that every formatter prints as three stars.
type Secret struct{ text string }

// Reveal returns the text itself.
func (s Secret) Reveal() string { return s.text }

func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "***"
}

// Format hides the text from every verb of fmt, including fmt's fallback for
// invalid verbs.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText writes what String writes.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// quote formats a user's value on one line of bounded length.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// split parses a list as written in Kafka's properties and in the environment.
func split(s string) ([]string, error) {
	var list []string
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("%s has an empty item between its commas", quote(s))
		}
		list = append(list, item)
	}
	return list, nil
}
