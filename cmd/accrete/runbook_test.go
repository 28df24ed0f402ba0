package main

import (
	"os"
	"strings"
	"testing"
)

// The runbook has a line for every error that exits with 78: the line's message
// is part of the error text, or the error text is part of the message.
func TestTheRunbookHasALineForEachRefusal(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			if parts := strings.Split(cells[1], "`"); len(parts) > 1 {
				messages = append(messages, parts[1])
			}
		}
	}
	for _, e := range exits {
		if e.code != refused {
			continue
		}
		found := false
		for _, m := range messages {
			found = found || strings.Contains(e.is.Error(), m) || strings.Contains(m, e.is.Error())
		}
		if !found {
			t.Errorf("docs/operations.md has no line for %q", e.is)
		}
	}
}
