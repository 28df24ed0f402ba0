package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// Names that YAML reads otherwise are quoted.
func TestPrintedColumnsAreYAML(t *testing.T) {
	got := inputs.YAML([]inputs.Column{{Name: "a.b.0", Type: "numeric"}, {Name: "0", Type: "time"}, {Name: "No", Type: "id"}, {Name: "a: b\"#", Type: schema.Ignored}, {Name: "größe"}})
	const want = "input:\n  columns:\n    a.b.0: numeric\n    \"0\": time\n    \"No\": id\n    \"a: b\\\"#\": ignored\n    \"größe\": ignored  # no value so far\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Inputs that are hashed by their names are no columns that a configuration could name.
func TestSparseInputsHaveNoColumnsToPrint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte(`{"a":1,"y":"p"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, nil, "fit", path, "--label", "y", "--sparse", "10", "--print-columns")
	if code != exit.Misused || stdout != "" || !strings.Contains(stderr, "--print-columns: with --sparse") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}
