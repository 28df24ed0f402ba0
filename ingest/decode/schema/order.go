package schema

import (
	"slices"
	"strconv"
)

// Order sorts column names to the order of a row: by bytes or, if they are the
// indices 0 to n-1, by number.
func Order(names []string) {
	slices.Sort(names)
	if len(names) <= 10 {
		return // the same either way
	}
	seen := make([]bool, len(names))
	for _, name := range names {
		i, ok := Index(name)
		if !ok || i >= len(names) || seen[i] {
			return
		}
		seen[i] = true
	}
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
}

// Index parses a name that is an index, in the spelling of strconv.Itoa.
func Index(name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == name
}

// Indexed reports whether the columns are those of the form {"x":[…]}.
func Indexed(columns []string) bool {
	for i, name := range columns {
		if k, ok := Index(name); !ok || k != i {
			return false
		}
	}
	return true
}

// Repeated returns a name that occurs twice in sorted names.
func Repeated(sorted []string) (string, bool) {
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return sorted[i], true
		}
	}
	return "", false
}
