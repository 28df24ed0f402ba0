package config

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid is what every error about a configuration is.
var ErrInvalid = errors.New("invalid configuration")

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Where string `json:"at,omitempty"` // "config.yaml:7:3", an environment variable, a flag; may be empty
	Text  string `json:"text"`         // one line
}

func (p Problem) Error() string {
	if p.Where == "" {
		return p.Text
	}
	return p.Where + ": " + p.Text
}

// Is says that a Problem is an ErrInvalid.
func (p Problem) Is(target error) bool { return target == ErrInvalid }

// Problems are all that is wrong with a configuration, in the order of the
// file, the environment and the flags. There is at least one.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].Error()
	}
	return fmt.Sprintf("%v (and %d more: see accrete lint)", p[0], len(p)-1)
}

// Is says that Problems are an ErrInvalid.
func (p Problems) Is(target error) bool { return target == ErrInvalid }

// nearest is the name that a hand may have meant by s, or "".
func nearest(s string, names []string) string {
	best, least := "", 1+len(s)/4
	for _, name := range names {
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
