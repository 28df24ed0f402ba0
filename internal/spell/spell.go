// Package spell guesses which name somebody has meant.
package spell

import "strings"

const longest = 64 // bytes of a name that is compared

// Nearest is the name that a hand may have meant by s, or "".
func Nearest(s string, names []string) string {
	best, least := "", 1+len(s)/4
	for _, name := range names {
		if max(len(s), len(name)) > longest {
			continue
		}
		d := distance(strings.ToLower(s), strings.ToLower(name))
		if d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours between a and b, none of them touched twice (optimal string
// alignment).
func distance(a, b string) int {
	var before []int // the row above above
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
