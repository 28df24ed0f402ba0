package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
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
