package display

import "testing"

func TestTextIsBoundedAndBytesAreEscaped(t *testing.T) {
	for _, test := range [][2]string{{"abcd", "abcd"}, {"abcde", "abcd…"}, {"abcé", "abc…"}, {"\xff\x00", `\xff\x00`}, {"a\nb", "a\nb"}, {"", ""}} {
		if got := Text([]byte(test[0]), 4); *got != test[1] {
			t.Errorf("%q: %q, want %q", test[0], *got, test[1])
		}
	}
	if Text(nil, 4) != nil {
		t.Error("null is text")
	}
}
