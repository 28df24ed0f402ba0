package fit

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// TestOutliersArePrinted: rows that were not learned have a line of their own.
func TestOutliersArePrinted(t *testing.T) {
	s := &learner.MixtureScores{Members: []learner.MemberScore{{Name: "newton", Rows: 1, Weight: 1}}}
	if text := newMixtureReport(s, 0).text(); strings.Contains(text, "outliers") {
		t.Errorf("without outliers the text is\n%s", text)
	}
	s.Outliers = 1234
	if text := newMixtureReport(s, 0).text(); !strings.Contains(text, "\noutliers     1,234: ") {
		t.Errorf("with outliers the text is\n%s", text)
	}
}

// Members that have predicted no row have no error.
func TestNoMemberIsBestWithoutRows(t *testing.T) {
	s := &learner.MixtureScores{Members: []learner.MemberScore{{Name: "newton", Weight: 1}}}
	if text := newMixtureReport(s, 0).text(); text != "mixture      newton 1.00\n" {
		t.Errorf("without rows the text is\n%s", text)
	}
	s.Members[0].Rows = 1
	if text := newMixtureReport(s, 0).text(); !strings.Contains(text, "best member newton with 0.0000") {
		t.Errorf("with rows the text is\n%s", text)
	}
}

// The members are compared with the mixture as they are counted, if that is not the progressive error.
func TestMembersAreComparedWithTheMixture(t *testing.T) {
	s := &learner.MixtureScores{Members: []learner.MemberScore{{Name: "newton", Rows: 1, Weight: 1}}}
	s.Together.Whole.Error = 0.01
	for whole, want := range map[float64]bool{0.01: false, 0.1: true} {
		if text := newMixtureReport(s, whole).text(); strings.Contains(text, "all together 0.0100") != want {
			t.Errorf("with a progressive error of %v the text is\n%s", whole, text)
		}
	}
}
