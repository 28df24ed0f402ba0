package history

import (
	"strings"
	"testing"
	"unicode"
)

// What a snapshot file has reaches a terminal without control characters, on one line.
func TestPreviewsArePrintable(t *testing.T) {
	for _, v := range []any{"a\nb\x1b[2J", []byte("\x00\xff"), []string{"a", "b\r"}, []float64{1, 2}, nil, strings.Repeat("ü\n", 100)} {
		if got := preview(v); strings.ContainsFunc(got, func(c rune) bool { return !unicode.IsPrint(c) }) || len([]rune(got)) > 60 {
			t.Errorf("%v: %q", v, got)
		}
	}
	if got := preview("plain text"); got != "plain text" {
		t.Error(got)
	}
}
