package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// runbook returns the first column of the table in docs/operations.md: the message of
// each line and, where several lines have it, the details.
func runbook(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			if parts := strings.Split(cells[1], "`"); len(parts) > 1 {
				var row []string
				for i := 1; i < len(parts); i += 2 {
					row = append(row, parts[i])
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// The runbook has a line for every error that exits with 78: the line's message
// is part of the error text, or the error text is part of the message.
func TestTheRunbookHasALineForEachRefusal(t *testing.T) {
	rows := runbook(t)
	for _, e := range exit.Exits {
		if e.Code != exit.Refused {
			continue
		}
		found := false
		for _, r := range rows {
			found = found || strings.Contains(e.Is.Error(), r[0]) || strings.Contains(r[0], e.Is.Error())
		}
		if !found {
			t.Errorf("docs/operations.md has no line for %q", e.Is)
		}
	}
}

// Two of the errors have many causes, each with its own way out: the runbook has a
// line with a part of every message.
func TestTheRunbookHasALineForEachCause(t *testing.T) {
	kinds := map[string]string{"Log": "the model log is broken", "Broken": "the model log is broken", "History": "history does not match"}
	message := regexp.MustCompile(`(?:fail|breaks)\("([^"]*)|Errorf\("%w: ([^"]*)",(?: append\(\[\]any\{)? ?(?:\w+\.)?Err(Log|Broken|History)\b`)
	rows := runbook(t)
	n := 0
	for _, dir := range []string{"../../pipeline", "../../snapshot/modellog", "../../serve"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range message.FindAllStringSubmatch(string(text), -1) {
				kind, says := "the model log is broken", m[1]
				if m[3] != "" {
					kind, says = kinds[m[3]], m[2]
				}
				if !strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(says, "%w", ""), "%q", ""), "abcdefghijklmnopqrstuvwxyz") {
					continue // the text is in the error that it wraps
				}
				n++
				says = strings.Replace(says, "was %w since", "was deleted and created again since", 1)
				found := false
				for _, r := range rows {
					for _, part := range r[1:] {
						found = found || r[0] == kind && strings.Contains(says, part)
					}
				}
				if !found {
					t.Errorf("docs/operations.md has no line for %q: %q, in %s", kind, says, path)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 25 {
		t.Errorf("found only %d messages", n)
	}
}
