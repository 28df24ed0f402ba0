package quarantine

import (
	"strings"
	"testing"
)

func TestShowBoundsTextAndEscapesBytes(t *testing.T) {
	q := Show{Bytes: 4}
	for _, test := range [][2]string{{"abcd", "abcd"}, {"abcde", "abcd…"}, {"abcé", "abc…"}, {"\xff\x00", `\xff\x00`}, {"a\nb", "a\nb"}, {"", ""}} {
		if got := q.text([]byte(test[0])); *got != test[1] {
			t.Errorf("%q: %q, want %q", test[0], *got, test[1])
		}
	}
	if q.text(nil) != nil {
		t.Error("null is text")
	}
	if got := (Record{Incomplete: "value truncated"}).String(); !strings.Contains(got, "not possible: value truncated") || !strings.HasSuffix(got, "null") {
		t.Error(got)
	}
}
