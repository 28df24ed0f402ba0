package fit

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// TestOutliersArePrinted: rows that were not learned have a line of their own.
func TestOutliersArePrinted(t *testing.T) {
	s := &learner.MixtureScores{Members: []learner.MemberScore{{Name: "newton", Rows: 1, Weight: 1}}}
	if text := newMixtureReport(s).text(); strings.Contains(text, "outliers") {
		t.Errorf("without outliers the text is\n%s", text)
	}
	s.Outliers = 1234
	if text := newMixtureReport(s).text(); !strings.Contains(text, "\noutliers     1,234: ") {
		t.Errorf("with outliers the text is\n%s", text)
	}
}

// Members that have predicted no row have no error.
func TestNoMemberIsBestWithoutRows(t *testing.T) {
	s := &learner.MixtureScores{Members: []learner.MemberScore{{Name: "newton", Weight: 1}}}
	if text := newMixtureReport(s).text(); text != "mixture      newton 1.00\n" {
		t.Errorf("without rows the text is\n%s", text)
	}
	s.Members[0].Rows = 1
	if text := newMixtureReport(s).text(); !strings.Contains(text, "best member newton with 0.0000") {
		t.Errorf("with rows the text is\n%s", text)
	}
}
