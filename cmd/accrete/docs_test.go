package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/learner"
)

func TestTheCommittedReferencesAreTheGeneratedOnes(t *testing.T) {
	for _, page := range []string{"configuration", "cli"} {
		code, want, stderr := call(t, nil, "docs", page)
		if code != exit.Done || stderr != "" {
			t.Fatalf("docs %s: exit code %d, %s", page, code, stderr)
		}
		name := page + ".md"
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is out of date: go run ./cmd/accrete docs %s > docs/%s", name, page, name)
		}
	}
}

func TestTheVersionOfTheWarmUpIsTheDocumentedOne(t *testing.T) {
	for name, sentences := range map[string][]string{
		"docs/algorithms.md": {"New models have version %d.", "\n| %d | "},
		"CHANGELOG.md":       {"Their warm-up has the version %d "},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sentences {
			if want := fmt.Sprintf(s, learner.NewestWarmup); !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
	}
}
