package main

import (
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
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
	for _, e := range exit.Exits {
		if e.Code != exit.Refused {
			continue
		}
		found := false
		for _, m := range messages {
			found = found || strings.Contains(e.Is.Error(), m) || strings.Contains(m, e.Is.Error())
		}
		if !found {
			t.Errorf("docs/operations.md has no line for %q", e.Is)
		}
	}
}
