package display

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/learner"
)

// Text returns the first most bytes of b as text, followed by "…" if there are more, and nil if b
// is nil. What is not text becomes escape sequences.
func Text(b []byte, most int) *string {
	if b == nil {
		return nil
	}
	more := ""
	if len(b) > most {
		b, more = b[:most], "…"
		for range utf8.UTFMax - 1 { // a rune may have been cut
			if r, n := utf8.DecodeLastRune(b); r != utf8.RuneError || n != 1 {
				break
			}
			b = b[:len(b)-1]
		}
	}
	s := string(b)
	if !utf8.Valid(b) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		quoted := strconv.Quote(s)
		s = quoted[1 : len(quoted)-1]
	}
	s += more
	return &s
}

// Majority returns the name of the baseline that predicts the most frequent class so far, or the mean
// of the labels so far.
func Majority(t learner.Task) string {
	if t == learner.Regression {
		return "mean"
	}
	return "majority"
}

// Targets returns what a model predicts: its classes or its values, of which there are n.
func Targets(t learner.Task, n int) string {
	switch {
	case t == learner.Classification:
		return Count(int64(n), "class")
	case n > 1:
		return Count(int64(n), "value")
	}
	return "one value"
}
