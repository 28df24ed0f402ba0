package spell

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	names := []string{"amount", "is_fraud", "age", strings.Repeat("x", 65)}
	for s, want := range map[string]string{"amuont": "amount", "isfraud": "is_fraud", "AGE": "age", "country": "", "": "", strings.Repeat("x", 64): ""} {
		if got := Nearest(s, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", s, got, want)
		}
	}
}

// distance is compared with its recursive definition.
func TestDistanceIsTheFewestEdits(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		cost := 1
		if a[0] == b[0] {
			cost = 0
		}
		least := min(slow(a[1:], b)+1, slow(a, b[1:])+1, slow(a[1:], b[1:])+cost)
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			least = min(least, slow(a[2:], b[2:])+1)
		}
		return least
	}
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := distance(a, b), slow(a, b); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}
