// Package spell suggests the correct name for a misspelt one.
package spell

import (
	"fmt"
	"strings"
)

const maxLength = 64 // bytes; longer names are not compared

// Nearest returns the name with the fewest edits from s, ignoring case, or ""
// if every name needs more than 1 + len(s)/4 edits.
func Nearest(s string, names []string) string {
	best, least := "", 1+len(s)/4
	for _, name := range names {
		if max(len(s), len(name)) > maxLength {
			continue
		}
		d := distance(strings.ToLower(s), strings.ToLower(name))
		if d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return best
}

// distance returns the number of insertions, deletions, substitutions and swaps of neighbours that
// turn a into b if no letter is edited twice (optimal string alignment).
func distance(a, b string) int {
	var before []int // the row above the previous row
	above := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}

// Unknown returns the error for a name that is not among names. It lists usages, the form of each
// name, and may suggest a name.
func Unknown(what, name string, names, usages []string) error {
	hint := ""
	if near := Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	last := len(usages) - 1
	want := strings.Join(usages[:last], ", ")
	if last > 0 {
		want += " or "
	}
	return fmt.Errorf("unknown %s %q: want %s%s%s", what, name, want, usages[last], hint)
}
